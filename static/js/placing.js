// Placing: a press counts only once the picture it is about has been seen, and the cell that is chosen is marked.
(() => {
  "use strict";
  const page = document.querySelector("[data-look-first]");
  if (!page) return;
  const form = document.getElementById("place");

  // Presses that were meant for the picture before: none acts until this one is shown and the keys have been still.
  const STILL = 250; // ms
  let closedUntil = Infinity;
  const open = () => {
    if (performance.now() >= closedUntil) page.dataset.lookFirst = "seen";
    else setTimeout(open, 20);
  };
  const seen = () => requestAnimationFrame(() => {
    closedUntil = performance.now() + STILL;
    open();
  });
  const photo = page.querySelector("[data-looked-at]");
  const look = () => photo.decode().then(seen, seen);
  window.addEventListener("pageshow", look);
  const typing = (event) => event.target.closest?.("input:not([type=radio]), textarea") && !event.ctrlKey && !event.metaKey;
  const early = (event) => {
    const now = performance.now();
    if (now >= closedUntil) return false;
    if (Number.isFinite(closedUntil)) closedUntil = now + STILL;
    event.preventDefault();
    event.stopImmediatePropagation();
    return true;
  };
  window.addEventListener("keydown", (event) => {
    if (!typing(event) && event.key !== "Tab") early(event);
  }, true);
  window.addEventListener("click", (event) => event.isTrusted && event.detail && event.target.closest("main") && early(event), true);
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    closedUntil = Infinity;
    page.dataset.lookFirst = "";
  });

  const mark = () => {
    const cell = ["complexity", "category", "premise_class"].map((name) => form.elements[name].value).join("/");
    for (const link of page.querySelectorAll("[data-cell]")) {
      if (link.dataset.cell === cell) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  form.addEventListener("change", mark);
  mark();
})();
