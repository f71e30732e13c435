// PouchDB, both stores in one process, kept by LevelDB. Nothing goes over a socket.

import { join } from "node:path";
import PouchDB from "pouchdb";
import { folder, id, measure, now, task } from "./work.mjs";

let opened = 0;
const open = () => new PouchDB(join(folder, `${(opened += 1)}`));

export async function fill(store, entities) {
  for (let first = 0; first < entities; first += 1_000) {
    const numbers = Array.from({ length: Math.min(1_000, entities - first) }, (_, turn) => first + turn);
    await store.bulkDocs(numbers.map((number) => ({ _id: id(number), ...task(number) })));
  }
}

async function bootstrap(entities) {
  const [here, there] = [open(), open()];
  await fill(here, entities);
  const start = now();
  const done = await PouchDB.replicate(here, there, { batch_size: 1_000 });
  const taken = now() - start;
  if (done.docs_written !== entities) throw new Error(`${done.docs_written} of ${entities} came`);
  await Promise.all([here.destroy(), there.destroy()]);
  return taken;
}

async function live() {
  const [here, there] = [open(), open()];
  PouchDB.replicate(here, there, { live: true });
  let seen;
  there.changes({ live: true, since: "now" }).on("change", (change) => seen(change.id, now()));
  return (number) =>
    new Promise((done) => {
      const start = now();
      const name = id(number);
      seen = (other, at) => other === name && done(at - start);
      here.put({ _id: name, ...task(number) });
    });
}

await measure({ bootstrap, live });
