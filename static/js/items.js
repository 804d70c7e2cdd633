// The sheet of an item: rewrites that were computed follow the descriptions; what is not saved is said.
(() => {
  "use strict";
  const sheet = document.querySelector("[data-sheet]");
  if (!sheet) return;
  const field = (name) => sheet.elements[name];

  sheet.addEventListener("input", () => sheet.classList.add("is-dirty"));
  // Only what the server does not have, not even as a draft, is worth a question.
  window.addEventListener("beforeunload", (event) => sheet.classList.contains("is-unkept") && event.preventDefault());

  // The server's answer to a change says what each rewrite is now; one that a person worded is left alone.
  const follow = (note) => {
    const turn = note.dataset.turn;
    const area = turn && field(`modified_${turn}`);
    if (!area || area === document.activeElement) return;
    const machine = field(`machine_${turn}`);
    if (area.value.trim() === "" || area.value === machine.value) {
      const differs = area.value !== note.dataset.modified;
      area.value = note.dataset.modified;
      machine.value = note.dataset.machine;
      if (differs) area.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  // After the whole reply is in the page: a note that is still the former one would bring back former words.
  document.addEventListener("htmx:afterRequest", (event) => {
    if (sheet.contains(event.detail.elt) && event.detail.successful) sheet.querySelectorAll("[data-turn]").forEach(follow);
  });

  sheet.addEventListener("click", (event) => {
    const button = event.target.closest("[data-use-computed]");
    if (!button) return;
    const area = field(`modified_${button.dataset.useComputed}`);
    area.value = button.dataset.text;
    field(`machine_${button.dataset.useComputed}`).value = button.dataset.text;
    area.dispatchEvent(new Event("input", { bubbles: true }));
    area.dispatchEvent(new Event("change", { bubbles: true }));
  });

  // Enter in a one-line field would save by accident.
  sheet.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input[type=text]") && !event.ctrlKey && !event.metaKey && !event.isComposing) event.preventDefault();
  });
})();
