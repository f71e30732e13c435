// Dragging a task to another column: it sends the form that the task's own menu has.
//
// Never moves a task that needs a reason without one: its menu opens instead.

import { element, on } from "./page.js";

let dragged = null;

const columnOf = (target) => target.closest?.("[data-status]");

on("dragstart", (event) => {
  dragged = event.target.closest?.("li[draggable]")?.id ?? null;
  if (dragged) event.dataTransfer.setData("text/plain", "");
});

on("dragover", (event) => {
  if (dragged && columnOf(event.target)) event.preventDefault();
});

on("dragend", () => (dragged = null));

on("drop", (event) => {
  const column = columnOf(event.target);
  // The page follows the journal: what is dragged may have left it.
  const card = dragged && element(dragged);
  dragged = null;
  if (!column || !card) return;
  event.preventDefault();
  if (column.contains(card)) return;
  const menu = card.querySelector("details");
  const form = menu.querySelector("form");
  form.elements.status.value = column.dataset.status;
  if (!column.dataset.reason) return form.requestSubmit();
  menu.open = true;
  form.elements.reason.focus();
});
