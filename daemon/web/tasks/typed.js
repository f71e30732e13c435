// The forms that people type into, without a reload: what was typed stays until the daemon has taken it.
//
// Never empties a form before its answer is there, and never leaves the page while something typed would be lost.

import { announce, inTurn, isTyped, parse, show, signedOut, tellRefusal } from "./page.js";

const sending = new Set();

/** Sends a form, and shows the answer in place; a refused form comes back with what was typed, and with why. */
function sendTyped(form, button) {
  if (sending.has(form)) return;
  sending.add(form);
  const body = new URLSearchParams(new FormData(form, button)).toString();
  const isAsSent = () => new URLSearchParams(new FormData(form, button)).toString() === body;
  inTurn(async () => {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(body), headers: { "Placet-Place": location.pathname } });
    if (answer.status === 401) return signedOut();
    const text = await answer.text();
    const fresh = parse(text);
    if (!fresh.getElementById("main")) return tellRefusal(text);
    if (answer.ok && new URL(answer.url).pathname !== location.pathname) return location.assign(answer.url);
    const focused = document.activeElement;
    const fold = form.closest("details");
    if (answer.ok && isAsSent()) empty(form);
    const refused = !answer.ok && form.id && fresh.getElementById(form.id);
    if (refused && !fresh.getElementById("gone")) form.replaceWith(copyOf(refused));
    if (answer.ok && fold) fold.open = false;
    show(fresh, { withOutcome: true });
    const wrong = refused && document.getElementById(form.id)?.querySelector("[aria-invalid]");
    if (wrong) return wrong.focus();
    const deed = document.querySelector("#deed p")?.innerText;
    announce(document.getElementById("outcome")?.innerText || deed || form.dataset.done || "");
    if (fold && answer.ok) fold.querySelector("summary").focus();
    else if (focused !== document.body && !focused.isConnected) document.getElementById("main").focus();
  }).finally(() => sending.delete(form));
}

/** Copies a form of an answer; the focus is given below, not as a page that is loaded gives it. */
function copyOf(form) {
  for (const field of form.querySelectorAll("[autofocus]")) field.removeAttribute("autofocus");
  return document.importNode(form, true);
}

function empty(form) {
  delete form.dataset.typed;
  form.reset();
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (!form.matches("form[data-sends]") || event.defaultPrevented) return;
  event.preventDefault();
  sendTyped(form, submitter);
});

addEventListener("beforeunload", (event) => {
  if ([...document.forms].some(isTyped)) event.preventDefault();
});
