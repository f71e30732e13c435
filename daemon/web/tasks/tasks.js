// The forms of tasks, a task noted in one line, and rows of tasks, without a reload.
//
// Never empties a form before its answer is there, never reads a line itself, and never acts while somebody types.

import { announce, ask, deedOf, inTurn, isKey, isTyped, markBusy, parse, rows, show, signedOut, tellUnsent } from "./page.js";

// -- forms that are typed into --

const sending = new Set();

/** Sends a form, and shows the answer in place; a refused form comes back with what was typed, and with why. */
function sendTyped(form, button) {
  if (sending.has(form)) return;
  sending.add(form);
  const body = new URLSearchParams(new FormData(form, button)).toString();
  const isAsSent = () => new URLSearchParams(new FormData(form, button)).toString() === body;
  const line = markBusy(button ?? form);
  inTurn(async () => {
    const sent = { method: "POST", body: new URLSearchParams(body), headers: { "Placet-Place": location.pathname } };
    const asked = await ask(form.action, sent).catch(() => tellUnsent(line));
    if (!asked) return;
    const { answer, fresh } = asked;
    // Nothing comes after it: news would be asked of a page that may be gone.
    if (answer.ok && new URL(answer.url).pathname !== location.pathname) return new Promise(() => location.assign(answer.url));
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
  }).finally(() => {
    sending.delete(form);
    line.removeAttribute("aria-busy");
    form.closest(".ticked")?.classList.remove("ticked");
  });
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
  if (submitter?.matches(".tick")) rowOf(form).classList.add("ticked");
  form.closest("[popover]")?.hidePopover();
  sendTyped(form, submitter);
});

addEventListener("beforeunload", (event) => {
  if ([...document.forms].some(isTyped)) event.preventDefault();
});

// -- a task in one line --

const dialog = document.getElementById("capture");
let isAdding = false;

export function capture() {
  const line = document.getElementById("add-task");
  if (line) return line.focus();
  dialog.querySelector(".fault").hidden = true;
  dialog.showModal();
  dialog.querySelector("input").select();
}

function tellFault(form, words) {
  const fault = form.querySelector(".fault");
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
  if (answer.status === 401) return asks(form) ? tellFault(form, document.getElementById("over").textContent) : signedOut();
  const text = await answer.text();
  const outcome = parse(text).getElementById("outcome");
  const words = outcome?.textContent.trim() ?? text.trim();
  if (!answer.ok && asks(form)) return tellFault(form, words);
  tellOutcome(outcome ?? words, outcome?.querySelector("bdi").textContent ?? words);
  // What was typed meanwhile is another line.
  if (!answer.ok || typed === undefined || form.elements.line.value !== typed) return;
  form.reset();
  read(form.elements.line);
  form.querySelector(".fault").hidden = true;
  if (dialog.open) dialog.close();
}

/** Reports whether a form is one that takes a line. */
const asks = (form) => Boolean(form.elements.line);

/** Shows below a line what is read of it: the words are the server's. */
let wanted = 0;
async function read(field) {
  const number = ++wanted;
  const asked = new URLSearchParams(new FormData(field.form));
  const text = field.value.trim() && (await (await fetch(`/tasks/read?${asked}`)).text());
  if (number !== wanted) return;
  const shown = field.form.querySelector(".read");
  shown.replaceChildren(...(text ? [...shown.querySelectorAll("input"), ...parse(text).querySelectorAll(".label")] : []));
}

// A chip that is clicked away: its words stay in the title.
document.addEventListener("click", ({ target }) => {
  const chip = target.closest(".read button");
  if (!chip) return;
  const field = document.createElement("input");
  Object.assign(field, { type: "hidden", name: "keep", value: chip.value });
  chip.before(field);
  const { form } = chip;
  form.elements.line.focus();
  read(form.elements.line);
});

let soon = 0;
document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-quick] [name=line]")) return;
  clearTimeout(soon);
  soon = setTimeout(() => read(target).catch(() => {}), 120);
});

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (!form.matches("form[data-quick]")) return;
  event.preventDefault();
  if (isAdding) return;
  isAdding = true;
  sendQuick(form, submitter)
    .catch(() => {
      const words = document.getElementById("away").textContent;
      if (asks(form)) tellFault(form, words);
      else tellOutcome(words, words);
    })
    .finally(() => (isAdding = false));
});
dialog.querySelector("[value=cancel]").addEventListener("click", () => dialog.close());

// -- rows by keys and by a menu --

const SENT = "[name=task], [name=base]";
const menu = () => document.getElementById("row-menu");
const rowOf = (node) => node.closest(".task");
const chosen = () => rows().filter((row) => row.matches(".chosen"));

/** Opens the menu for a row, or for those chosen: the whole of it, or the part of one value. */
function open(row, part, near = row.querySelector(".title")) {
  const form = menu().querySelector("form");
  for (const old of form.querySelectorAll(SENT)) old.remove();
  for (const meant of row.matches(".chosen") ? chosen() : [row]) {
    form.append(...[...meant.querySelectorAll(SENT)].map((field) => field.cloneNode()));
  }
  for (const field of form.querySelectorAll("fieldset")) field.hidden = part && field.dataset.part !== part;
  menu().showPopover();
  const { left, bottom, top } = near.getBoundingClientRect();
  const { offsetWidth, offsetHeight, style } = menu();
  style.left = `max(8px, min(${left}px, 100vw - ${offsetWidth + 8}px))`;
  style.top = `${bottom + offsetHeight + 8 > innerHeight ? Math.max(8, top - offsetHeight - 4) : bottom + 4}px`;
  form.querySelector("fieldset:not([hidden]) button").focus();
}

function go(row, step, choosing) {
  const all = rows();
  const next = row ? (all[all.indexOf(row) + step] ?? row) : all[0];
  for (const other of choosing ? [row, next] : chosen()) other?.classList.toggle("chosen", choosing);
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

const press = (selector) => (row) => row.querySelector(selector).click();
const part = (name) => (row) => open(row, name, row.querySelector(`[data-menu=${name}]`) ?? undefined);
const DEEDS = {
  next: (row) => go(row, 1, false),
  previous: (row) => go(row, -1, false),
  addNext: (row) => go(row, 1, true),
  addPrevious: (row) => go(row, -1, true),
  tick: press(".tick"),
  open: press(".title"),
  menu: (row) => open(row, ""),
  due: part("due"),
  priority: part("priority"),
  labels: part("labels"),
  status: part("status"),
  remove: part("more"),
  edit: (row) => (location.href = `${row.querySelector(".title").href}#edit`),
};

// Before the keys of cards: with a row in focus, a key is about the row.
document.addEventListener(
  "keydown",
  (event) => {
    const { key, target } = event;
    if (!isKey(event) || target.closest("button, a, summary, [popover], .item")) return;
    const row = rowOf(target);
    const name = deedOf("row", key);
    if (!Object.hasOwn(DEEDS, name) || !(row || (rows().length && /next|previous/i.test(name)))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    DEEDS[name](row);
  },
  true,
);

document.addEventListener("click", (event) => {
  const { target, shiftKey } = event;
  const near = target.closest(".task [data-menu]");
  if (near) open(rowOf(near), near.dataset.menu, near);
  else if (shiftKey && rowOf(target)) {
    event.preventDefault();
    rowOf(target).classList.toggle("chosen");
  }
});
