// Keeps a line in place of what was decided elsewhere, with what was typed there, until a verdict here.
//
// Never decides, and never keeps more than some lines.

import { make, parse } from "./page.js";

const KEPT_MAX = 40;
const told = new Map();

export const forget = () => told.clear();

/** Puts a word on why into the page that comes, for items that it has no more; returns the words. */
export async function tell(fresh, items) {
  const words = await Promise.all(items.map(keep));
  told.forEach((kept) => putBack(fresh, kept));
  return words.filter(Boolean);
}

async function keep(item) {
  const answer = await fetch(`/items/${item.dataset.item}`);
  const words = parse(await answer.text()).querySelector(".decided");
  if (!words) return "";
  const row = make("li", { className: "item gone", id: item.id });
  row.append(words);
  for (const field of item.querySelectorAll("textarea, input:not([type=hidden], [type=checkbox], [type=radio])")) {
    if (field.value === field.defaultValue) continue;
    row.append(make("pre", { textContent: `${words.dataset.typed} ${field.value}` }));
  }
  const card = item.closest(".card");
  const frame = card.cloneNode(false);
  frame.append(card.querySelector("h2").cloneNode(true), make("ul", { className: "items" }));
  told.set(item.id, { row, frame, before: card.nextElementSibling?.id, next: item.nextElementSibling?.id });
  while (told.size > KEPT_MAX) told.delete(told.keys().next().value);
  return words.textContent;
}

/** Puts a line on a decision from elsewhere where the proposal was, also if nothing else of its card is left. */
function putBack(fresh, { row, frame, before, next }) {
  let section = fresh.getElementById(frame.id);
  if (!section) {
    section = fresh.importNode(frame, true);
    const main = fresh.getElementById("main");
    const place = (before && fresh.getElementById(before)) || main.querySelector(".empty, .beside");
    if (place) place.before(section);
    else main.append(section);
  }
  const neighbour = next && section.querySelector(`#${CSS.escape(next)}`);
  if (neighbour) neighbour.before(row.cloneNode(true));
  else section.querySelector("ul.items").append(row.cloneNode(true));
}
