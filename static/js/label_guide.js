// The guidelines beside an answer: open or closed as one left them; on a narrow screen they begin behind their button.
(() => {
  "use strict";
  const NAME = "label-guide";
  const stored = () => {
    try {
      return localStorage.getItem(NAME);
    } catch {
      return null;
    }
  };
  const store = (value) => {
    try {
      localStorage.setItem(NAME, value);
    } catch {
      // A browser that keeps nothing opens them each time.
    }
  };
  const narrow = matchMedia("(max-width: 61.99rem)");
  const set = () => {
    const details = document.querySelector("[data-guideline]");
    details.open = narrow.matches ? false : stored() !== "closed";
    details.querySelector("summary").addEventListener("click", () => narrow.matches || store(details.open ? "closed" : "open"));
  };
  set();
  narrow.addEventListener("change", set);
  window.labelling = { ...window.labelling, guide: set };
})();
