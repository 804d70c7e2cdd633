// The dialogue reader: one key to the next turn, one to the one before.
(() => {
  "use strict";
  const turns = [...document.querySelectorAll("article.turn")];
  const links = [...document.querySelectorAll("[data-turn]")];
  const EDGE = 12; // px below the top within which a turn counts as the one that is read

  const current = () => {
    const focused = turns.indexOf(document.activeElement?.closest("article.turn"));
    if (focused >= 0) return focused;
    return turns.findLastIndex((turn) => turn.getBoundingClientRect().top <= EDGE);
  };
  const mark = (at) => links.forEach((link, number) => {
    if (number === at) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  });
  const go = (at) => {
    const turn = turns[Math.min(turns.length - 1, Math.max(0, at))];
    if (!turn) return;
    turn.focus({ preventScroll: true });
    turn.scrollIntoView({ block: "nearest" });
    mark(turns.indexOf(turn));
  };
  document.addEventListener("click", (event) => {
    const step = event.target.closest("[data-step]");
    if (step) go(current() + Number(step.dataset.step));
  });
  document.addEventListener("focusin", (event) => {
    const at = turns.indexOf(event.target.closest("article.turn"));
    if (at >= 0) mark(at);
  });
  if (location.hash.startsWith("#turn-")) go(turns.findIndex((turn) => `#${turn.id}` === location.hash));
})();
