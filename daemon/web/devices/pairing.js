// Joins in place, and says that it goes on.
//
// Never joins by itself. Everything works without this file, by the buttons.

import { announce, ask, element, first, inTurn, on, sentBy, show } from "./page.js";

on("submit", (event) => {
  const { target: form, submitter } = event;
  if (form.id !== "join" || !submitter) return;
  event.preventDefault();
  const body = sentBy(form, submitter);
  submitter.disabled = true;
  element("joins").dataset.stays = "";
  element("joining").textContent = form.dataset.joins;
  inTurn(async () => {
    try {
      const asked = await ask(form.action, { method: "POST", body });
      if (!asked) return;
      show(asked.fresh, { withOutcome: true });
      if (asked.fresh.querySelector("#more[open]")) element("more").open = true;
      announce(first("#join-fault, #outcome p, #joins h2")?.textContent ?? "");
      first("#more[open] #address:placeholder-shown, h2[tabindex]")?.focus();
    } finally {
      submitter.disabled = false;
      element("joining")?.replaceChildren();
    }
  });
});
