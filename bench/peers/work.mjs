// The work that is asked of every peer, and how long it is allowed to take. Nothing here knows any of them.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIZES = [400, 1_600, 6_400, 25_000, 100_000];
// A size that took this long is the last: each is four times the one before.
const ENOUGH_MS = Number(process.env.ENOUGH_S ?? 4) * 1e3;
const LIVE = 300, WARM = 30, LIVE_MAX_MS = 30_000;

export const folder = mkdtempSync(join(tmpdir(), "placet-peers-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

export const HOST = "127.0.0.1";

// One clock for all processes of the machine.
export const now = () => Number(process.hrtime.bigint()) / 1e6;

export const rest = (ms) => new Promise((done) => setTimeout(done, ms));

// An id in time order, as ours: 48 bits of time, then chance.
export const id = (number) =>
  (1_700_000_000_000 + number).toString(16).padStart(12, "0") + randomBytes(10).toString("hex");

// What `task_fields` in bench/stores.py returns.
export const task = (number) => ({
  title: `Task ${number}: ` + "what is to be done, in a person's words ".repeat(4),
  status: "OPEN",
  priority: "P2",
  due: "2027-03-15",
  estimate_minutes: 120,
  language: "en",
});

// `bootstrap(n)`: fill one store, bring an empty one up from it; return milliseconds of the second part.
// `live()`: two stores that agree; return `send(number)`, which returns milliseconds from write to sight.
export async function measure({ bootstrap, live }) {
  let found;
  for (const entities of SIZES) {
    const start = now();
    found = { entities, seconds: (await bootstrap(entities)) / 1e3 };
    if (now() - start > ENOUGH_MS) break;
  }
  const send = await live();
  const taken = [];
  const end = now() + LIVE_MAX_MS;
  for (let number = 0; number < LIVE + WARM && now() < end; number += 1) {
    taken.push(await send(number));
    await rest(2);
  }
  console.log(JSON.stringify({ ...found, live_ms: taken.slice(WARM) }));
  process.exit();
}
