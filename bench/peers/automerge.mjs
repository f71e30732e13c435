// automerge-repo, a document an entity, over its WebSocket; files on both sides, written some time after. No TLS.

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Repo } from "@automerge/automerge-repo";
import { WebSocketClientAdapter, WebSocketServerAdapter } from "@automerge/automerge-repo-network-websocket";
import { NodeFSStorageAdapter } from "@automerge/automerge-repo-storage-nodefs";
import { WebSocketServer } from "ws";
import { HOST, folder, measure, now, task } from "./work.mjs";

// A server for one repository; it fills it, and writes when it is told to.
async function serve(entities) {
  const server = new WebSocketServer({ host: HOST, port: 0 });
  await once(server, "listening");
  const network = [new WebSocketServerAdapter(server)];
  const repo = new Repo({ network, storage: new NodeFSStorageAdapter(join(folder, "served")) });
  const documents = Array.from({ length: entities }, (_, number) => repo.create({ ...task(number), at: 0 }));
  await repo.flush();
  process.send({ port: server.address().port, urls: documents.map((one) => one.url) });
  process.on("message", () => documents[0].change((held) => { held.at = now(); }));
  process.on("disconnect", () => process.exit());
}

let opened = 0;
async function connected(entities) {
  const server = fork(fileURLToPath(import.meta.url), [`${entities}`]);
  const [{ port, urls }] = await once(server, "message");
  const start = now();
  const repo = new Repo({
    network: [new WebSocketClientAdapter(`ws://${HOST}:${port}`)],
    storage: new NodeFSStorageAdapter(join(folder, `${(opened += 1)}`)),
  });
  await repo.networkSubsystem.whenReady();
  const documents = await Promise.all(urls.map((url) => repo.find(url)));
  await repo.flush();
  return { server, repo, documents, taken: now() - start };
}

async function bootstrap(entities) {
  const { server, repo, documents, taken } = await connected(entities);
  if (documents.some((one) => one.doc()?.status !== "OPEN")) throw new Error("some came without their fields");
  await repo.shutdown();
  server.disconnect();
  await once(server, "exit");
  return taken;
}

async function live() {
  const { server, documents } = await connected(1);
  return () =>
    new Promise((done) => {
      documents[0].once("change", ({ doc }) => done(now() - doc.at));
      server.send("write");
    });
}

await (process.argv[2] ? serve(Number(process.argv[2])) : measure({ bootstrap, live }));
