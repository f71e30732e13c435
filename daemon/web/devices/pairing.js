// Follows pairing in place: asks how an invitation stands until it has ended, and says that joining goes on.
//
// Never invites and never joins by itself. Everything works without this file, by the buttons.

import { announce, ask, inTurn, show } from "./page.js";

const AGAIN_MS = 2000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Waits for the daemon to tell that the invitation has got further, as long as it goes on. */
async function follow() {
  for (;;) {
    if (!document.querySelector("#invite[data-goes-on]")) return;
    const asked = await ask("/devices/pair?wait=1").catch(() => null);
    if (asked) await inTurn(async () => show(asked.fresh, { withOutcome: false }));
    else await pause(AGAIN_MS);
  }
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (form.id !== "join" || !submitter) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, submitter));
  submitter.disabled = true;
  document.getElementById("joins").dataset.stays = "";
  document.getElementById("joining").textContent = form.dataset.joins;
  inTurn(async () => {
    try {
      const asked = await ask(form.action, { method: "POST", body });
      if (!asked) return;
      show(asked.fresh, { withOutcome: true });
      announce(document.querySelector("#join-fault, #outcome p, #joins h2")?.textContent ?? "");
      document.querySelector("#more[open] #address:placeholder-shown, h2[tabindex]")?.focus();
    } finally {
      submitter.disabled = false;
      document.getElementById("joining")?.replaceChildren();
    }
  });
});

follow();
