// The forms of tasks, a task noted in one line, and rows of tasks, without a reload.
//
// Never empties a form before its answer is there, never reads a line itself, and never acts while somebody types.

import { announce, ask, deedOf, element, first, inTurn, isKey, isTyped, items, make, markBusy, on, parse, rows, sentBy, show, signedOut, tellUnsent } from "./page.js";

// -- forms that are typed into --

const sending = new Set();

/** Sends a form, and shows the answer in place; a refused form comes back with what was typed, and with why. */
function sendTyped(form, button) {
  const body = sentBy(form, button).toString();
  const once = form.action + body;
  if (sending.has(once)) return;
  sending.add(once);
  const { href } = location;
  const isAsSent = () => sentBy(form, button).toString() === body;
  const line = markBusy(button ?? form);
  inTurn(async () => {
    const sent = { method: "POST", body: new URLSearchParams(body), headers: { "Placet-Place": location.pathname } };
    const asked = await ask(form.action, sent).catch(() => tellUnsent(line));
    if (!asked) return;
    const { answer, fresh } = asked;
    if (answer.ok && isAsSent()) empty(form);
    // Nothing comes soon after it: news would be asked of a page that may be gone. But a person may stay.
    if (answer.ok && new URL(answer.url).pathname !== location.pathname) return new Promise((done) => setTimeout(done, 2000, location.assign(answer.url)));
    // What was opened meanwhile stays open.
    if (answer.redirected && href === location.href) history.replaceState(null, "", answer.url);
    const focused = document.activeElement;
    const fold = form.closest("details");
    const near = thingOf(form)?.id;
    const refused = !answer.ok && form.id && fresh.getElementById(form.id);
    if (refused && !fresh.getElementById("gone")) form.replaceWith(copyOf(refused));
    if (answer.ok && fold) fold.open = false;
    show(fresh, { withOutcome: true });
    const wrong = refused && element(form.id)?.querySelector("[aria-invalid]");
    if (wrong) return wrong.focus();
    const deed = first("#deed p")?.innerText;
    announce(element("outcome")?.innerText || deed || form.dataset.done || "");
    if (fold && answer.ok) fold.querySelector("summary").focus();
    else if (focused.isConnected) focused.focus();
    else if (focused !== document.body) (element(near) ?? element("main")).focus();
  }).finally(() => {
    sending.delete(once);
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

on("submit", (event) => {
  const { target: form, submitter } = event;
  if (!form.matches("form[data-sends]") || event.defaultPrevented) return;
  event.preventDefault();
  if (submitter?.matches(".tick")) thingOf(form).classList.add("ticked");
  form.closest("[popover]")?.hidePopover();
  sendTyped(form, submitter);
});

addEventListener("beforeunload", (event) => {
  if (hasTyped()) event.preventDefault();
});

// -- a task in one line --

const dialog = element("capture");
let isAdding = false;

export function capture() {
  const line = element("add-task");
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
  element("toast").replaceChildren(shown);
  announce(words);
}

async function sendQuick(form, button) {
  const typed = form.elements.line?.value;
  const answer = await fetch(form.action, { method: "POST", body: sentBy(form, button) });
  if (answer.status === 401) return asks(form) ? tellFault(form, element("over").textContent) : signedOut();
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
  const asked = sentBy(field.form);
  const text = field.value.trim() && (await (await fetch(`/tasks/read?${asked}`)).text());
  if (number !== wanted) return;
  const shown = field.form.querySelector(".read");
  shown.replaceChildren(...(text ? [...shown.querySelectorAll("input"), ...parse(text).querySelectorAll(".label")] : []));
}

// A chip that is clicked away: its words stay in the title.
on("click", ({ target }) => {
  const chip = target.closest(".read button");
  if (!chip) return;
  chip.before(make("input", { type: "hidden", name: "keep", value: chip.value }));
  const { form } = chip;
  form.elements.line.focus();
  read(form.elements.line);
});

let soon = 0;
on("input", ({ target }) => {
  if (!target.matches("[data-quick] [name=line]")) return;
  clearTimeout(soon);
  soon = setTimeout(() => read(target).catch(() => {}), 120);
});

on("submit", (event) => {
  const { target: form, submitter } = event;
  if (!form.matches("form[data-quick]")) return;
  event.preventDefault();
  if (isAdding) return;
  isAdding = true;
  sendQuick(form, submitter)
    .catch(() => {
      const words = element("away").textContent;
      if (asks(form)) tellFault(form, words);
      else tellOutcome(words, words);
    })
    .finally(() => (isAdding = false));
});
dialog.querySelector("[value=cancel]").addEventListener("click", () => dialog.close());

// -- tasks by keys and by a menu: rows of a list, and the one that is open --

const SENT = "[name=task], [name=base]";
const menu = () => element("row-menu");
const thingOf = (node) => node.closest(".task, .one");
const chosen = () => rows().filter((row) => row.matches(".chosen"));
const labelsOf = (thing) => [...thing.querySelectorAll("[data-menu=labels]")].map((label) => label.textContent.trim());

/** Opens the menu for a task, or for the rows chosen: the whole of it, or the part of one value. */
function open(thing, part, near = thing.querySelector(".title, h1")) {
  const form = menu().querySelector("form");
  form.reset();
  for (const old of form.querySelectorAll(SENT)) old.remove();
  const things = thing.matches(".chosen") ? chosen() : [thing];
  for (const meant of things) form.append(...[...meant.querySelector("form").querySelectorAll(SENT)].map((field) => field.cloneNode()));
  for (const field of form.querySelectorAll("fieldset")) field.hidden = part && field.dataset.part !== part;
  // A label that all of them have is taken away.
  const own = things.map(labelsOf);
  for (const button of form.querySelectorAll("[data-part=labels] button")) {
    const label = button.textContent.trim();
    button.ariaPressed = own.every((labels) => labels.includes(label));
    button.value = `${button.ariaPressed === "true" ? "unlabel" : "labels"}:${label.slice(1)}`;
  }
  menu().showPopover();
  const { left, bottom, top } = near.getBoundingClientRect();
  const { offsetWidth, offsetHeight, style } = menu();
  style.left = `max(8px, min(${left}px, 100vw - ${offsetWidth + 8}px))`;
  style.top = `${bottom + offsetHeight + 8 > innerHeight ? Math.max(8, top - offsetHeight - 4) : bottom + 4}px`;
  form.querySelector("fieldset:not([hidden]) :is(button, input)").focus();
}

// What is left in a menu that is closed is typed no more.
on(
  "toggle",
  ({ target, newState }) => {
    if (target.popover && newState === "closed") for (const form of target.querySelectorAll("form:not([aria-busy])")) empty(form);
  },
  true,
);

/** Puts a field in the place of a title: Enter sends it, and so does leaving it; Escape leaves the title as it was. */
function rename(thing, shown, [name, value] = ["set", "title"]) {
  const own = thing.querySelector("form");
  const words = shown.querySelector("bdi").innerText;
  const form = own.cloneNode();
  const field = make("input", { name: "title", defaultValue: words, autocomplete: "off", ariaLabel: words });
  form.className = "rename";
  form.dataset.typed = "";
  for (const sent of own.querySelectorAll("[type=hidden]")) form.append(sent.cloneNode());
  form.append(make("input", { type: "hidden", name, value }), field);
  shown.after(form);
  field.select();
  const close = () => {
    field.value = field.defaultValue;
    thing.focus();
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Escape" || (event.key === "Enter" && field.value === field.defaultValue)) close();
    else return;
    event.preventDefault();
  });
  field.addEventListener("blur", () => {
    // A field that is removed is left as well.
    if (field.value === field.defaultValue) queueMicrotask(() => form.remove());
    else form.requestSubmit();
  });
}

function go(focused, step, choosing) {
  const all = rows();
  const row = focused || first(".task.on");
  const next = row ? (all[all.indexOf(row) + step] ?? row) : all[0];
  for (const other of choosing ? [row, next] : chosen()) other?.classList.toggle("chosen", choosing);
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  if (next && !choosing && pane() && !hasTyped()) beside(next);
}

// -- a task beside its list --

const wide = matchMedia("(min-width: 75rem)");
const pane = () => first(".pane");
const hasTyped = () => [...document.forms].some(isTyped);
let isComing = false;

/** Shows what the address says now. */
function visit() {
  if (isComing) return Promise.resolve();
  isComing = true;
  return inTurn(async () => {
    isComing = false;
    const asked = await ask(location.href, { headers: { "Placet-Refresh": "yes" } });
    if (asked) show(asked.fresh, { withOutcome: false });
  });
}

/** Opens the task of a row beside the list, or none: the address says which. A step of the history is a `way`. */
function beside(row, way = "replaceState") {
  const url = new URL(location);
  url.hash = "";
  url.searchParams.delete("task");
  if (row) url.searchParams.set("task", row.id.slice(2));
  for (const other of rows()) other.classList.toggle("on", other === row);
  history[way](null, "", url);
  return visit();
}

function close() {
  const row = first(".task.on");
  beside(null, "pushState").then(() => (row ?? element("main")).focus());
}

addEventListener("popstate", () => first(".list") && visit());

on("keydown", ({ key, target }) => {
  if (key === "Escape" && pane() && !first(":popover-open, dialog[open]") && !target.closest("input, textarea")) close();
});

const press = (selector) => (thing) => thing.querySelector(selector)?.click();
const part = (name) => (thing) => open(thing, name, thing.querySelector(`[data-menu=${name}]`) ?? undefined);
const DEEDS = {
  next: (row) => go(row, 1, false),
  previous: (row) => go(row, -1, false),
  addNext: (row) => go(row, 1, true),
  addPrevious: (row) => go(row, -1, true),
  tick: press(".tick"),
  open: press(".title"),
  menu: (thing) => open(thing, ""),
  due: part("due"),
  priority: part("priority"),
  labels: part("labels"),
  status: part("status"),
  remove: part("more"),
  edit: (thing) => rename(thing, thing.querySelector(".title, h1")),
};

// Before the keys of cards: with a row in focus, a key is about the row; with a card on it, of a task the title alone.
on(
  "keydown",
  (event) => {
    const { key, target } = event;
    if (!isKey(event) || target.closest("button, a, summary, [popover], .item")) return;
    const name = deedOf("row", key);
    const row = target.closest(".task");
    const one = first(".one");
    const isMove = /next|previous/i.test(name);
    const thing = isMove ? row : row || ((name === "edit" || !items().length) && one);
    if (!Object.hasOwn(DEEDS, name) || !(thing || (isMove && rows().length))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    DEEDS[name](thing);
  },
  true,
);

on("click", (event) => {
  const { target, shiftKey, ctrlKey, metaKey, altKey } = event;
  const near = target.closest("[data-menu]");
  const row = target.closest(".task");
  const reason = target.form?.elements.reason;
  if (reason) reason.required = target.matches("[data-reason]");
  if (near) {
    event.preventDefault();
    open(thingOf(near), near.dataset.menu, near);
  } else if (target.closest(".one h1")) rename(thingOf(target), target.closest("h1"));
  else if (target.closest(".todo .what")) rename(target.closest(".todo"), target.closest(".what"), ["do", "edit-item"]);
  else if (shiftKey && row) {
    event.preventDefault();
    row.classList.toggle("chosen");
  } else if (!wide.matches || ctrlKey || metaKey || altKey || hasTyped()) return;
  else if (target.closest(".pane .close")) {
    event.preventDefault();
    close();
  } else if (target.closest(".task .title")) {
    event.preventDefault();
    beside(row, "pushState").then(() => first(".one")?.focus());
  }
});

// -- the order of the items of a checklist: by dragging, and by keys --

const todoOf = ({ target }) => target.closest?.(".todo");
let dragged = null;

/** Presses the button that moves an item. */
function move(item, place) {
  const button = item.querySelector("[value^=move-item]");
  button.value = `move-item:${place}`;
  button.form.requestSubmit(button);
}

on("dragstart", (event) => (dragged = todoOf(event)));
on("dragover", (event) => dragged && todoOf(event) && event.preventDefault());
on("drop", (event) => {
  const over = todoOf(event);
  if (!dragged?.isConnected || !over || over === dragged) return;
  event.preventDefault();
  const isBelow = dragged.compareDocumentPosition(over) & Node.DOCUMENT_POSITION_FOLLOWING;
  move(dragged, `${isBelow ? "after" : "before"}:${over.id.slice(2)}`);
});
on("keydown", (event) => {
  const way = event.altKey && { ArrowUp: "up", ArrowDown: "down" }[event.key];
  if (!way || !todoOf(event)) return;
  event.preventDefault();
  move(todoOf(event), way);
});

// A field with several lines is sent as a letter is.
on("keydown", ({ key, ctrlKey, metaKey, target }) => {
  if (key === "Enter" && (ctrlKey || metaKey) && target.matches("form[data-sends] textarea")) target.form.requestSubmit(target.form.querySelector("button"));
});
