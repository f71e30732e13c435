// PouchDB 7 over HTTP: one store behind express-pouchdb in a process of its own, one here. No TLS.

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import express from "express";
import served from "express-pouchdb";
import PouchDB from "pouchdb-7";
import { HOST, folder, id, measure, now, task } from "./work.mjs";

const LIVE_STORE = "live";

function serve() {
  const kept = join(folder, "served");
  mkdirSync(kept);
  const Kept = PouchDB.defaults({ prefix: `${kept}/` });
  const app = express();
  app.use("/", served(Kept, { mode: "minimumForPouchDB" }));
  const server = app.listen(0, HOST, () => process.send(server.address().port));
  new Kept(LIVE_STORE)
    .changes({ live: true, since: "now" })
    .on("change", (change) => process.send({ id: change.id, at: now() }));
  process.on("disconnect", () => process.exit());
}

async function client() {
  const server = fork(fileURLToPath(import.meta.url), ["serve"]);
  const [port] = await once(server, "message");
  let opened = 0;
  const open = () => new PouchDB(join(folder, `${(opened += 1)}`));
  const remote = (name) => new PouchDB(`http://${HOST}:${port}/${name}`);

  async function bootstrap(entities) {
    const [here, there] = [remote(`filled-${entities}`), open()];
    for (let first = 0; first < entities; first += 1_000) {
      const numbers = Array.from({ length: Math.min(1_000, entities - first) }, (_, turn) => first + turn);
      await here.bulkDocs(numbers.map((number) => ({ _id: id(number), ...task(number) })));
    }
    const start = now();
    const done = await PouchDB.replicate(here, there, { batch_size: 1_000 });
    const taken = now() - start;
    if (done.docs_written !== entities) throw new Error(`${done.docs_written} of ${entities} came`);
    await Promise.all([here.destroy(), there.destroy()]);
    return taken;
  }

  async function live() {
    const [here, there] = [open(), remote(LIVE_STORE)];
    here.sync(there, { live: true });
    let seen;
    server.on("message", (change) => seen(change));
    return (number) =>
      new Promise((done) => {
        const start = now();
        const name = id(number);
        seen = (change) => change.id === name && done(change.at - start);
        here.put({ _id: name, ...task(number) });
      });
  }

  await measure({ bootstrap, live });
}

await (process.argv[2] === "serve" ? serve() : client());
