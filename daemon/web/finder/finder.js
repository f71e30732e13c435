// Finds tasks and actions as somebody types, and shows all keys.
//
// Never shows an old answer after a newer one, and never does anything before Enter or a press.

import { act, ask, element, make, parse, sentBy, signedOut } from "./page.js";

const SOON_MS = 80;
const dialog = element("finder");
const field = dialog.querySelector("input");
const list = dialog.querySelector("[role=listbox]");
const fault = dialog.querySelector(".fault");
const options = () => [...list.children];
const chosen = () => list.querySelector("[aria-selected]");

let wanted = 0;
let soon = 0;
let looking = Promise.resolve();

export function find() {
  looking = look();
}

/** Shows what is called so by now; an answer that a newer one has overtaken is let go. */
async function look() {
  const number = ++wanted;
  const text = await fetch(`/find?${sentBy(field.form)}`)
    .then((answer) => (answer.status === 401 ? signedOut() : answer.ok && answer.text()))
    .catch(() => false);
  if (number !== wanted) return;
  fault.hidden = typeof text === "string";
  fault.textContent = element("away").textContent;
  list.replaceChildren(...parse(text || "").querySelectorAll("[role=option]"));
  choose(0);
}

function choose(index) {
  chosen()?.removeAttribute("aria-selected");
  const option = options().at(index % (options().length || 1));
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", option?.id ?? "");
}

function go(option) {
  if (!option) return;
  dialog.close();
  act(option.dataset.does ?? option.dataset.go);
}

field.addEventListener("input", () => {
  clearTimeout(soon);
  soon = 0;
  looking = new Promise((done) => {
    soon = setTimeout(() => done(look()), SOON_MS);
  });
});

field.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(options().indexOf(chosen()) + step);
  // What is gone to is what was typed, also if its answer is still to come.
  else if (event.key === "Enter" && !event.isComposing) looking.then(() => go(chosen()));
  else return;
  event.preventDefault();
});

list.addEventListener("click", ({ target }) => go(target.closest("[role=option]")));
dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());

// -- the list of keys --

export async function help() {
  const shown = element("keys");
  if (shown) return open(shown);
  const asked = await ask("/keys");
  if (!asked || element("key-list")) return;
  const keys = make("dialog", { id: "keys" });
  keys.setAttribute("aria-labelledby", "keys-title");
  keys.append(document.importNode(asked.fresh.getElementById("key-list"), true));
  const form = keys.querySelector("form");
  form.hidden = false;
  const single = form.querySelector("input");
  single.checked = !document.cookie.includes("placet_keys=off");
  single.addEventListener("change", () => (document.cookie = `placet_keys=${single.checked ? "on" : "off"};path=/;max-age=34560000;samesite=strict`));
  document.body.append(keys);
  open(keys);
}

/** Opens the list at its beginning: what has the focus stands at its end. */
function open(keys) {
  keys.showModal();
  keys.scrollTop = 0;
}
