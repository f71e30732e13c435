// The review card by keys, by swiping, and with a reason: each presses a button that is there anyway.
//
// Never presses a button while somebody types, and never on what was not on the screen.

import { announce, deedOf, element, first, inTurn, isKey, itemOf, items, on, send } from "./page.js";

const PRESS_MS = 500;
const SLOP_PX = 10;
const PART = 1 / 3;
const REFUSES = "[aria-keyshortcuts=n]";

/** Reports whether the whole of an item is on the screen. */
function isInSight(item) {
  const { top, bottom } = item.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}

const current = () => document.activeElement?.closest(".item[data-item]") ?? items().find(isInSight);
const press = (button) => button && button.form.requestSubmit(button);
/** Finds the button that a key stands for, of the current item; that of an ask may stand below it. */
const keyed = (key) => (current()?.closest(".ask") ?? current())?.querySelector(`[aria-keyshortcuts=${key}]`);

function go(step) {
  const all = items();
  const at = all.indexOf(document.activeElement?.closest(".item"));
  const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + step))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** Opens *Change it first*: here, or on the page that has the details of what is proposed. */
function changeFirst(item) {
  const id = `e-${item?.dataset.item}`;
  const details = element(id);
  const link = item?.closest(".card").querySelector("a[href^='/reviews/']");
  if (!details && link) location.href = `${link.pathname}#${id}`;
  if (!details) return;
  details.open = true;
  details.querySelector("input:not([type=hidden]), select, textarea").focus();
}

// -- keys ---------------------------------------------------------------------------------------------

const DEEDS = {
  confirm: (key) => press(keyed(key)),
  reject: (key) => press(keyed(key)),
  rejectWhy: (key) => askWhy(keyed(key.toLowerCase())),
  defer: (key) => press(keyed(key)),
  change: () => changeFirst(current()),
  next: () => go(1),
  previous: () => go(-1),
  confirmAll: () => press(current()?.closest(".card").querySelector("footer [value=confirmed]")),
  // The answer to what was pressed just before brings its own Undo.
  takeBack: () => inTurn(async () => press(first("#outcome .undo button"))),
  answer: (key) => {
    const question = current()?.closest(".question") ?? current()?.querySelector(".question");
    question?.querySelectorAll(".choose, [type=radio]")[Number(key) - 1]?.click();
  },
};

on("keydown", (event) => {
  const name = deedOf("item", event.key);
  if (event.repeat || !isKey(event) || !Object.hasOwn(DEEDS, name)) return;
  event.preventDefault();
  DEEDS[name](event.key);
});

// -- a reason for a rejection -------------------------------------------------------------------------

const dialog = element("why");
let asked = null;

function askWhy(button) {
  if (!button) return;
  asked = button;
  element("why-what").textContent = itemOf(button).querySelector(".sum bdi").textContent;
  dialog.querySelector("textarea").value = "";
  dialog.showModal();
}

dialog.addEventListener("close", () => {
  const button = asked;
  asked = null;
  if (dialog.returnValue !== "reject" || !button?.isConnected) return;
  send(button.form, button, { reason: dialog.querySelector("textarea").value });
});

let timer = 0;
let wasLong = false;
on("pointerdown", ({ target }) => {
  const button = target.closest(REFUSES);
  wasLong = false;
  clearTimeout(timer);
  if (!button) return;
  timer = setTimeout(() => {
    wasLong = true;
    askWhy(button);
  }, PRESS_MS);
});
for (const type of ["pointerup", "pointercancel", "pointermove"]) {
  on(type, (event) => {
    if (type !== "pointermove" || Math.hypot(event.movementX, event.movementY) > SLOP_PX) clearTimeout(timer);
  });
}
on(
  "click",
  (event) => {
    const button = event.target.closest(REFUSES);
    // A finger that lets go clicks on what is beneath it then: a button of the dialog. A key has no `detail`.
    const isLong = wasLong && event.detail > 0;
    wasLong = false;
    if (!isLong && !(button && event.shiftKey)) return;
    event.preventDefault();
    if (!isLong) askWhy(button);
  },
  true,
);

// -- swiping: right confirms, left rejects ------------------------------------------------------------

let swipe = null;

on("pointerdown", (event) => {
  // A second finger makes it something else than a swipe.
  if (swipe) return letGo();
  const item = event.target.closest(".item[data-item]:not(.odd)");
  if (event.pointerType === "mouse" || !item || event.target.closest("button, a, select, input, textarea, label, summary")) return;
  const buttons = [item.querySelector(".yes"), item.querySelector(".no")];
  if (buttons.every(Boolean)) swipe = { id: event.pointerId, item, buttons, x: event.clientX, y: event.clientY, by: 0 };
});

on("pointermove", (event) => {
  if (swipe?.id !== event.pointerId) return;
  const { item, x, y } = swipe;
  const [dx, dy] = [event.clientX - x, event.clientY - y];
  if (!item.classList.contains("drawn")) {
    if (Math.abs(dy) > SLOP_PX) swipe = null;
    if (Math.abs(dx) <= SLOP_PX || !swipe) return;
    item.classList.add("drawn");
    item.setPointerCapture(event.pointerId);
  }
  swipe.by = dx;
  item.style.translate = `${dx}px`;
  const enough = Math.abs(dx) > item.clientWidth * PART;
  item.classList.toggle("to-yes", dx > 0 && enough);
  item.classList.toggle("to-no", dx < 0 && enough);
});

function letGo() {
  swipe.item.classList.remove("drawn", "to-yes", "to-no");
  swipe.item.style.translate = "";
  swipe = null;
}

function release(event) {
  if (swipe?.id !== event.pointerId) return;
  const { item, buttons, by } = swipe;
  letGo();
  const enough = event.type === "pointerup" && Math.abs(by) > item.clientWidth * PART;
  if (enough) press(buttons[by > 0 ? 0 : 1]);
}
on("pointerup", release);
on("pointercancel", release);

announce("");
if (location.hash.startsWith("#e-")) changeFirst(first(location.hash)?.closest(".item"));
