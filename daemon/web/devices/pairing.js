// Follows pairing in place: asks how an invitation stands until it has ended, and says that joining goes on.
//
// Never invites and never joins by itself. Everything works without this file, by the buttons.

import { announce, inTurn, parse, show } from "./page.js";

const AGAIN_MS = 2000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Waits for the daemon to tell that the invitation has got further, as long as it goes on. */
async function follow() {
  for (;;) {
    const invitation = document.getElementById("invite");
    if (!invitation.hasAttribute("data-goes-on")) return;
    try {
      const answer = await fetch("/devices/pair?wait=1");
      if (answer.status === 401) return location.reload();
      const fresh = parse(await answer.text());
      await inTurn(async () => show(fresh, { withOutcome: false }));
    } catch {
      await pause(AGAIN_MS);
    }
  }
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (form.id !== "join" || !submitter) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, submitter));
  submitter.disabled = true;
  document.getElementById("joining").textContent = form.dataset.joins;
  inTurn(async () => {
    try {
      const answer = await fetch(form.action, { method: "POST", body });
      if (answer.status === 401) return location.reload();
      show(parse(await answer.text()), { withOutcome: true });
      announce(document.querySelector("#join-fault, #outcome p")?.textContent ?? "");
    } finally {
      submitter.disabled = false;
      document.getElementById("joining").textContent = "";
    }
  });
});

follow();
