// Improves the page without changing what it does: forms without a reload, and parts that follow the journal.
//
// Never decides anything by itself, and never asks another host. Everything works without this file.

const policy = globalThis.trustedTypes?.createPolicy("placet", { createHTML: (text) => text, createScriptURL: (address) => address });
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const LEAVE_MS = 260;
const TOLD_MAX = 8;

export const element = (id) => document.getElementById(id);
export const first = (selector) => document.querySelector(selector);
export const make = (name, properties) => Object.assign(document.createElement(name), properties);
export const on = document.addEventListener.bind(document);

/** Gathers what a form sends, by the button that was pressed. */
export const sentBy = (form, button) => new URLSearchParams(new FormData(form, button));

/** Parses an answer of this page's own server; nothing in it runs. */
export function parse(text) {
  return new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
}

export function announce(words) {
  element("live").textContent = words;
}

export function items() {
  return [...document.querySelectorAll(".item[data-item]:not(.leaves)")].filter((item) => item.checkVisibility());
}

export const rows = () => [...document.querySelectorAll(".task:not(.leaves)")];

/** Returns the item that a button decides on: around it, or on the card of an ask. */
export const itemOf = (button) => button.closest(".item") ?? button.closest(".ask")?.querySelector(".item");

// -- bringing the page to what the server shows now ---------------------------------------------------

/** Reports whether an attribute is the person's: a fold that is open, what was typed, what was just pressed. */
function isPersons(node, name) {
  const holdsTyped = node.matches("input:not([type=hidden], [type=checkbox], [type=radio])") && !node.form?.matches("[data-sends]");
  return name === "aria-busy" || (name === "open" && node.localName === "details") || (name === "value" && holdsTyped);
}

/** Reports whether a form holds what a person typed, and the daemon has not taken: it stays as it is. */
export function isTyped(form) {
  return form.matches("[data-sends]") && ("typed" in form.dataset || [...form.elements].some(isChanged));
}

function isChanged({ options, selectedIndex, value, defaultValue }) {
  if (options) return selectedIndex !== Math.max(0, [...options].findIndex((option) => option.defaultSelected));
  return defaultValue !== undefined && value !== defaultValue;
}

/** Reports whether words would be lost with this page. */
const hasTyped = () => [...document.forms].some((form) => isTyped(form) || (form.method === "post" && [...form.elements].some(isChanged)));

/** Makes `now` like `next`. Elements with an id stay the same elements, and with them focus and scrolling. */
function morph(now, next) {
  // What is read of a line as it is typed, a menu that is open, and what came of a form, until the next is answered.
  if (now.matches(".read, :popover-open") || (!isAnswer && now.matches("[data-stays]"))) return;
  if (now.matches("form[data-sends]")) {
    if (isTyped(now)) return;
    // From here on its fields show what the attributes say.
    now.reset();
  }
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name) && !isPersons(now, name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes) {
    if (now.getAttribute(name) !== value && !isPersons(now, name)) now.setAttribute(name, value);
  }
  const byId = new Map([...now.children].filter((child) => child.id).map((child) => [child.id, child]));
  let place = now.firstChild;
  for (const wanted of [...next.childNodes]) {
    // A line that leaves, and a title that is being typed: the server knows neither.
    while (place?.matches?.(".leaves, .rename[data-typed]")) place = place.nextSibling;
    const isLike = place && !place.id && !wanted.id && place.nodeName === wanted.nodeName;
    const match = wanted.id ? byId.get(wanted.id) : isLike ? place : null;
    if (!match) {
      now.insertBefore(document.importNode(wanted, true), place);
      continue;
    }
    if (match === place) place = match.nextSibling;
    // An element that is taken out to be put elsewhere loses the focus.
    else (now.moveBefore ?? now.insertBefore).call(now, match, place);
    if (match.nodeType === Node.ELEMENT_NODE) morph(match, wanted);
    else if (match.nodeValue !== wanted.nodeValue) match.nodeValue = wanted.nodeValue;
  }
  while (place) {
    const next_ = place.nextSibling;
    leave(place);
    place = next_;
  }
}

function leave(node) {
  if (node.matches?.(".leaves, .unsent, .rename[data-typed]") || [...(node.querySelectorAll?.("form") ?? [])].some(isTyped)) return;
  if (calm.matches || !node.matches?.(".item, .card, .task")) {
    node.remove();
    return;
  }
  for (const named of [node, ...node.querySelectorAll("[id]")]) named.removeAttribute("id");
  node.classList.add("leaves");
  node.inert = true;
  setTimeout(() => node.remove(), LEAVE_MS);
}

const scriptOf = (page) => page.querySelector("script")?.src;
const bar = (page) => page.querySelector("header.bar nav");

let isAnswer = false;

export function show(fresh, { withOutcome }) {
  isAnswer = withOutcome;
  const gone = fresh.getElementById("gone");
  if (gone && hasTyped()) tellGone(gone);
  else morph(element("main"), fresh.getElementById("main"));
  element("over").hidden = true;
  morph(bar(document), bar(fresh));
  if (withOutcome) morph(element("toast"), fresh.getElementById("toast"));
  document.title = fresh.title;
  bringParts();
}

/** Says above what was typed that its task is gone, and leaves the rest to be copied. */
function tellGone(gone) {
  const shown = element("gone");
  if (shown) return morph(shown, gone);
  element("main").prepend(document.importNode(gone, true));
  announce(gone.textContent.trim());
}

/** Shows that the session is over: the page of the sign-in, unless something typed would be lost with that. */
export function signedOut() {
  if (!hasTyped()) return location.reload();
  const over = element("over");
  if (over.hidden) announce(over.textContent);
  over.hidden = false;
}

const PARTS = {
  passkey: "form[data-signs], form[data-makes]",
  import: "form[data-drop]",
  job: "[data-job]",
  tasks: "form[data-sends], main form[data-quick]",
  review: ".item[data-item]",
};

/** Loads what a page has a part for. */
function bringParts() {
  for (const [name, part] of Object.entries(PARTS)) {
    if (first(part)) import(`./${name}.js`).then(({ follow }) => follow?.());
  }
  for (const part of document.querySelectorAll(".dots[hidden]")) part.hidden = false;
}

// -- verdicts, without a reload -----------------------------------------------------------------------

let busy = Promise.resolve();
let own = new Set();
const sending = new Set();

/** Runs one thing after the other: no answer is shown in place of a later one. */
export function inTurn(work) {
  busy = busy.then(work).catch(() => setAway(true));
  return busy;
}

/** Asks for a page; null if the answer is none, or the session is over, which is then said. */
export async function ask(address, options) {
  const answer = await fetch(address, options);
  if (answer.status === 401) return signedOut() ?? null;
  const text = await answer.text();
  const fresh = parse(text);
  if (fresh.getElementById("main")) return { answer, fresh };
  tellRefusal(text);
  return null;
}

/** Shows on the line of a button that its answer is under way. */
export function markBusy(button) {
  const line = button?.closest(".item, .task, footer, form");
  line?.querySelector(".unsent")?.remove();
  line?.setAttribute("aria-busy", "true");
  return line;
}

/** Says on a line that nothing was sent: it stays as it was. */
export function tellUnsent(line) {
  setAway(true);
  const words = make("p", { className: "mark unsent", textContent: element("away").dataset.unsent });
  (line?.querySelector(".what") ?? line)?.append(words);
  announce(words.textContent);
}

/** Sends a form as the browser would, by the button that was pressed, and shows the answer in place. */
export function send(form, button, more = {}) {
  const body = sentBy(form, button);
  for (const [name, value] of Object.entries(more)) body.set(name, value);
  const before = items();
  const index = before.indexOf(itemOf(button));
  const verdict = body.get("decide");
  const [, single] = verdict.split(":");
  const sent = single ? verdict : body.toString();
  // A second click of a double click would be answered as "decided already", without an Undo.
  if (sending.has(sent)) return busy;
  sending.add(sent);
  own = new Set(single ? [single] : body.getAll("shown").map((shown) => shown.split(":")[0]));
  const line = markBusy(button);
  return inTurn(async () => {
    const asked = await ask(form.getAttribute("action") ?? location.href, { method: "POST", body }).catch(() => tellUnsent(line));
    if (!asked) return;
    told?.forget();
    show(asked.fresh, { withOutcome: true });
    setAway(false);
    announce(element("outcome")?.innerText ?? "");
    focusNear(index < 0 ? 0 : index);
  }).finally(() => {
    sending.delete(sent);
    line?.removeAttribute("aria-busy");
  });
}

/** Shows an answer that is no page: the daemon is there, and says in a line why it did nothing. */
export function tellRefusal(text) {
  setAway(false);
  const words = text.trim();
  if (element("toast").textContent === words) return;
  element("toast").textContent = words;
  announce(words);
}

function focusNear(index) {
  const left = items();
  (left[Math.min(index, left.length - 1)] ?? element("main")).focus();
}

on("submit", (event) => {
  const { target: form, submitter } = event;
  if (form.method !== "post" || form.getAttribute("action") || !submitter) return;
  event.preventDefault();
  send(form, submitter);
});

// -- what changes elsewhere ---------------------------------------------------------------------------

// The part that keeps what was decided elsewhere, once there is such a thing.
let told = null;

/** Fetches what is stale, and again until it is shown: an answer that is no page brings no news. */
function refresh() {
  return inTurn(async () => {
    if (!stale) return;
    const part = stale;
    stale = "";
    refreshed = performance.now();
    let isShown = false;
    try {
      isShown = await bring(part);
    } finally {
      if (!isShown) setTimeout(makeStale, AGAIN_MS, part);
    }
  });
}

/** Reports whether somebody is at something that a new page would take away. */
const isHeld = () => first("dialog[open], .item.drawn");

/** Fetches the bar, or the page, of which it keeps what left with a word on why; reports whether that is shown. */
async function bring(part) {
  const whole = part === WHOLE;
  if (whole && isHeld()) return false;
  const asked = await ask(whole ? location.href : bar(document).dataset.bar, { headers: { "Placet-Refresh": "yes" } });
  if (!asked) return false;
  const { fresh } = asked;
  // A refusal in plain words is over.
  if (!element("toast").childElementCount) element("toast").textContent = "";
  if (!whole) {
    morph(bar(document), bar(fresh));
    return true;
  }
  if (isHeld()) return false;
  // The scripts of another version of the daemon: this page's own are served no more.
  const isOld = (scriptOf(fresh) ?? scriptOf(document)) !== scriptOf(document);
  if (isOld && !hasTyped()) return location.reload() ?? true;
  const gone = items().filter((item) => !fresh.getElementById(item.id));
  const elsewhere = gone.filter((item) => !own.has(item.dataset.item)).slice(0, TOLD_MAX);
  const waits = first(".head .sub")?.textContent;
  if (elsewhere.length) told ??= await import("./told.js");
  const words = (await told?.tell(fresh, elsewhere)) ?? [];
  const focused = gone.find((item) => item.contains(document.activeElement));
  const index = items().indexOf(focused);
  show(fresh, { withOutcome: false });
  setAway(false);
  if (focused) focusNear(index);
  const now = first(".head .sub")?.textContent;
  announce(words.length ? words.join(". ") : now !== waits ? (now ?? "") : "");
  return true;
}

let isAsked = false;

/** Says whether the daemon is away, and asks until it is back: a request that failed alone ends no stream. */
function setAway(away) {
  element("away").hidden = !away;
  if (!away || isAsked) return;
  isAsked = true;
  setTimeout(() => {
    isAsked = false;
    if (!element("away").hidden) fetch("/", { method: "HEAD" }).then(() => heard({ type: "back" }), () => setAway(true));
  }, AGAIN_MS);
}

// One stream per browser: the tab that holds the lock has it, and tells the others.

const channel = new BroadcastChannel("placet-live");
const SILENCE_MS = 40_000;
const AGAIN_MS = 2000;
// From what the page shows on: what changed before the stream was open is told as well.
let last = element("main").dataset.after ?? "";
// The first news is shown at once; more of it, however much comes, is fetched together.
const APART_MS = 100;
const WHOLE = "whole";
const BAR = "bar";
let stale = "";
let refreshed = -APART_MS;

/** Reports whether a part shows something of what changed: it names the kinds that it follows, or none for the journal. */
function isConcerned({ dataset: { follows } }, { type, kinds }) {
  return !kinds || (follows ? follows.split(" ").some((kind) => kinds.includes(kind)) : type === "changed");
}

/** Fetches a part soon; nobody looks at a hidden tab, so that one waits until it is seen. */
function makeStale(part) {
  const waits = stale && !document.hidden;
  if (stale !== WHOLE) stale = part;
  if (!waits) fetchSoon();
}

function fetchSoon() {
  if (stale && !document.hidden) setTimeout(refresh, Math.max(0, refreshed + APART_MS - performance.now()));
}
on("visibilitychange", fetchSoon);

function heard(news) {
  const { type, id } = news;
  if (id) last = id;
  if (type === "away") return setAway(true);
  const wasAway = !element("away").hidden;
  setAway(false);
  if (wasAway) makeStale(WHOLE);
  else if (type !== "changed" && type !== "around") return;
  else if (isConcerned(element("main"), news)) makeStale(WHOLE);
  else if (isConcerned(bar(document), news)) makeStale(BAR);
}

function tell(message) {
  channel.postMessage(message);
  heard(message);
}

function follow() {
  let watchdog = 0;
  const source = new EventSource(`/live${last ? `?after=${last}` : ""}`);
  const again = async () => {
    clearTimeout(watchdog);
    source.close();
    // An event source does not tell why it failed.
    const status = await fetch("/", { method: "HEAD" }).then((answer) => answer.status, () => 0);
    if (status === 401) signedOut();
    else tell({ type: status === 0 ? "away" : "changed" });
    setTimeout(follow, AGAIN_MS);
  };
  const alive = (type) => (event) => {
    clearTimeout(watchdog);
    watchdog = setTimeout(again, SILENCE_MS);
    const { kinds, all } = JSON.parse(event.data);
    tell({ type, id: event.lastEventId, kinds: all ? undefined : kinds });
  };
  for (const type of ["open", "changed", "around", "alive"]) {
    source.addEventListener(type, (event) => event instanceof MessageEvent && alive(type)(event));
  }
  source.onerror = again;
}

channel.onmessage = ({ data }) => heard(data);
if (navigator.locks) navigator.locks.request("placet-live", () => new Promise(follow));
else follow();

// -- keys and buttons that act on every page ----------------------------------------------------------

const KEYS = JSON.parse(first("header.bar").dataset.keys);
const DEEDS = {
  add: () => import("./tasks.js").then(({ capture }) => capture()),
  find: () => {
    // At once: what is typed before the script is there is typed into it, and decides nothing.
    if (!element("finder").open) element("finder").showModal();
    element("finder").querySelector("input").select();
    return import("./finder.js").then(({ find }) => find());
  },
  help: () => import("./finder.js").then(({ help }) => help()),
  undo: () => {
    const form = element("undo-last");
    form.elements.back.value = location.pathname + location.search;
    form.requestSubmit();
  },
  out: () => element("sign-out").requestSubmit(),
  light: () => colour("light"),
  dark: () => colour("dark"),
};

/** Gives this browser other colours, in place. */
async function colour(colours) {
  const body = new URLSearchParams({ colours });
  const { status } = await fetch("/settings/colours", { method: "POST", body, redirect: "manual" });
  if (status === 401) return signedOut();
  document.documentElement.dataset.colours = colours;
  first("[name=color-scheme]").content = colours;
}

/** Names what a key does in a part of the page, if it does something there or everywhere. */
export const deedOf = (part, key) => KEYS[part][key] ?? KEYS.everywhere[key];

/** Reports whether single keys act, and nobody types. */
export const isKey = ({ ctrlKey, metaKey, altKey, target }) =>
  !(ctrlKey || metaKey || altKey || document.cookie.includes("placet_keys=off") || target.closest("input, textarea, select, [contenteditable], dialog"));

/** Does what the table of keys or an entry of the finder names; reports whether there is such a thing. */
export function act(deed) {
  if (deed?.startsWith("/")) location.href = deed;
  else if (Object.hasOwn(DEEDS, deed)) Promise.resolve(DEEDS[deed]()).catch(() => setAway(true));
  else return false;
  return true;
}

on("click", (event) => {
  const { ctrlKey, metaKey, target } = event;
  if (ctrlKey || metaKey || !act(target.closest("[data-does]:not([role=option])")?.dataset.does)) return;
  event.preventDefault();
  element("more-rooms").hidePopover();
});

let goes = false;
function press(event) {
  const { ctrlKey, metaKey, altKey, shiftKey, key, repeat } = event;
  if (altKey || repeat || key === "Shift") return;
  const isWithControl = (ctrlKey || metaKey) && !shiftKey;
  if (!isWithControl && !isKey(event)) return;
  const isSecond = goes && !isWithControl;
  goes = key === "g" && !isSecond && !isWithControl;
  // The second key goes somewhere, or nowhere: it decides nothing.
  if (isSecond) event.stopImmediatePropagation();
  if (act(KEYS.everywhere[isSecond ? `g ${key}` : isWithControl ? `Ctrl ${key.toLowerCase()}` : key])) event.preventDefault();
}
// Before the keys of rows and cards: "g d" goes to the devices, also from a row.
on("keydown", press, true);

// For a page that is opened while the daemon is away; browsers know no worker where a page is not secure.
const WORKER = "/worker.js";
addEventListener("load", () => navigator.serviceWorker?.register(policy ? policy.createScriptURL(WORKER) : WORKER).catch(() => {}));

if (location.hash === "#q") element("q")?.focus();
bringParts();
