// Follows work that takes long in place, until it has ended: an import, a check of the journal, an invitation.
//
// Never begins anything. Without this file the page loads itself anew, or offers a link that does.

import { announce, ask, element, first, inTurn, show } from "./page.js";

const AGAIN_MS = 2000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const working = () => first("[data-job]");

let follows = false;

/** Asks how far the work is, as long as it goes on, and the session too. */
export async function follow() {
  if (follows) return;
  follows = true;
  for (let part; (part = working()); ) {
    try {
      const asked = await ask(part.dataset.job);
      if (!element("over").hidden) break;
      if (!asked) {
        await pause(AGAIN_MS);
        continue;
      }
      await inTurn(async () => show(asked.fresh, { withOutcome: false }));
      announce(first("[data-told]")?.textContent ?? "");
    } catch {
      await pause(AGAIN_MS);
    }
  }
  follows = false;
}
