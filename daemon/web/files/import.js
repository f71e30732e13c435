// Lets a file be dropped anywhere on the page.
//
// Never imports by itself: a dropped file is only looked at. Everything works without this file, by the buttons.

import { first, on } from "./page.js";

const dropForm = () => first("form[data-drop]");
const holdsFiles = (event) => event.dataTransfer?.types.includes("Files") && dropForm();

/** Says at the field that a file is too large, before it is sent. */
function judge(form) {
  const field = form.querySelector("[type=file]");
  const isLarge = (field.files[0]?.size ?? 0) > Number(form.dataset.drop);
  field.setCustomValidity(isLarge ? form.dataset.large : "");
  return field.reportValidity();
}

on("dragover", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  dropForm().closest(".card").classList.add("drop");
});

on("dragleave", (event) => {
  if (!event.relatedTarget) dropForm()?.closest(".card").classList.remove("drop");
});

on("drop", (event) => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  const form = dropForm();
  form.closest(".card").classList.remove("drop");
  const [file] = event.dataTransfer.files;
  if (!file) return;
  const single = new DataTransfer();
  single.items.add(file);
  form.querySelector("[type=file]").files = single.files;
  if (judge(form)) form.requestSubmit();
});

on("change", ({ target }) => {
  const form = target.closest("form[data-drop]");
  if (form) judge(form);
});

for (const form of document.querySelectorAll("form[data-drop]")) form.dataset.ready = "yes";
