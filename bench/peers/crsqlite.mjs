// cr-sqlite as wasm, both databases in memory in one process: under node it keeps none on the disk.
// Its package has no transport; changes are handed over as it hands them out, and none goes over a socket.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import initWasm from "@vlcn.io/crsqlite-wasm";
import { id, measure, now, task } from "./work.mjs";

const COLUMNS = "[table], pk, cid, val, col_version, db_version, site_id, cl, seq";
const DB_VERSION = 5;
const PAGE = 1_000;

// The loader fetches its file by address, which node does for no file.
const { resolve } = createRequire(import.meta.url);
const wasm = await readFile(resolve("@vlcn.io/crsqlite-wasm/crsqlite.wasm"));
globalThis.fetch = async () => new Response(wasm, { headers: { "content-type": "application/wasm" } });
// It also asks for the browser's storage, which is used for databases with a name alone.
globalThis.indexedDB = { open: () => new EventTarget() };
const sqlite = await initWasm(() => "crsqlite.wasm");

async function open() {
  const held = await sqlite.open();
  const fields = Object.keys(task(0)).map((name) => `${name} ANY`);
  await held.exec(`CREATE TABLE task (id BLOB PRIMARY KEY NOT NULL, ${fields.join(", ")})`);
  await held.exec("SELECT crsql_as_crr('task')");
  return held;
}

function write(held, number) {
  const values = [Buffer.from(id(number), "hex"), ...Object.values(task(number))];
  return held.exec(`INSERT INTO task VALUES (${values.map(() => "?").join(", ")})`, values);
}

// One transaction for what came at once, and one statement for all of it.
async function hand(from, to, after) {
  const changes = await from.execA(`SELECT ${COLUMNS} FROM crsql_changes WHERE db_version > ?`, [after]);
  await to.tx(async (within) => {
    const insert = await within.prepare("INSERT INTO crsql_changes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const change of changes) await insert.run(within, ...change);
    await insert.finalize(within);
  });
  return changes.at(-1)[DB_VERSION];
}

async function bootstrap(entities) {
  const [here, there] = [await open(), await open()];
  for (let first = 0; first < entities; first += PAGE)
    await here.tx(async (within) => {
      for (let number = first; number < Math.min(first + PAGE, entities); number += 1) await write(within, number);
    });
  const start = now();
  await hand(here, there, 0);
  const taken = now() - start;
  const [[came]] = await there.execA("SELECT count(*) FROM task");
  if (came !== entities) throw new Error(`${came} of ${entities} came`);
  await Promise.all([here.close(), there.close()]);
  return taken;
}

async function live() {
  const [here, there] = [await open(), await open()];
  let after = 0;
  return async (number) => {
    const start = now();
    await write(here, number);
    after = await hand(here, there, after);
    return now() - start;
  };
}

await measure({ bootstrap, live });
