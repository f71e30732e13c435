// A task noted from any page, in one line: it is sent, and what was read of it is said where outcomes are.
//
// Never reads the line itself, and never leaves the page: a refused line stays typed.

import { announce, parse, signedOut } from "./page.js";

const dialog = document.getElementById("capture");
const fault = dialog.querySelector(".fault");
let busy = false;

export function capture() {
  fault.hidden = true;
  dialog.showModal();
  dialog.querySelector("input").select();
}

function tellFault(words) {
  fault.textContent = words;
  fault.hidden = false;
}

function tellOutcome(shown, words) {
  document.getElementById("toast").replaceChildren(shown);
  announce(words);
}

async function sendQuick(form, button) {
  const typed = form.elements.line?.value;
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, button)) });
  if (answer.status === 401) return dialog.open ? tellFault(document.getElementById("over").textContent) : signedOut();
  const text = await answer.text();
  const outcome = parse(text).getElementById("outcome");
  const words = outcome?.textContent.trim() ?? text.trim();
  if (!answer.ok && asks(form)) return tellFault(words);
  tellOutcome(outcome ?? words, outcome?.querySelector("bdi").textContent ?? words);
  // What was typed meanwhile is another line.
  if (!answer.ok || typed === undefined || form.elements.line.value !== typed) return;
  form.reset();
  dialog.close();
}

/** Reports whether a form is the one that is open for a line. */
function asks(form) {
  return dialog.open && dialog.contains(form);
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (!form.matches("form[data-quick]")) return;
  event.preventDefault();
  if (busy) return;
  busy = true;
  sendQuick(form, submitter)
    .catch(() => {
      const words = document.getElementById("away").textContent;
      if (asks(form)) tellFault(words);
      else tellOutcome(words, words);
    })
    .finally(() => (busy = false));
});
dialog.querySelector("[value=cancel]").addEventListener("click", () => dialog.close());
