// Seconds that a person spent on an answer: while it is in view, and not beyond 45 seconds without a sign of life.
// Each second goes into one press: what was not sent stays with its answer, over skips and reloads of this tab.
(() => {
  "use strict";
  const IDLE = 45_000;
  const NAME = "label-seconds";
  const person = document.querySelector('meta[name="person"]').content;
  const read = () => {
    try {
      const kept = JSON.parse(sessionStorage.getItem(NAME));
      return kept?.person === person ? kept.spent : {};
    } catch {
      return {};
    }
  };
  const write = (spent) => {
    try {
      sessionStorage.setItem(NAME, JSON.stringify({ person, spent }));
    } catch {
      // Without a store, time before a reload is not counted.
    }
  };

  let task = null;
  let spent = 0;
  let last = performance.now();
  let visible = document.visibilityState === "visible";
  const look = () => {
    const now = performance.now();
    if (visible) spent += Math.min(Math.max(0, now - last), IDLE);
    last = now;
  };
  for (const name of ["pointermove", "pointerdown", "keydown", "wheel", "scroll", "touchmove", "input"]) {
    document.addEventListener(name, look, { capture: true, passive: true });
  }
  document.addEventListener("visibilitychange", () => {
    look();
    visible = document.visibilityState === "visible";
    keep();
  });
  const keep = () => {
    if (task === null) return;
    const all = read();
    if (spent > 0) all[task] = spent;
    else delete all[task];
    write(all);
  };
  const begin = (next) => {
    look();
    keep();
    task = next;
    spent = read()[next] || 0;
    last = performance.now();
  };
  const take = () => {
    look();
    const seconds = spent / 1000;
    spent = 0;
    keep();
    return seconds;
  };
  window.addEventListener("pagehide", () => {
    look();
    keep();
  });
  window.labelling = { ...window.labelling, time: { begin, take } };
})();
