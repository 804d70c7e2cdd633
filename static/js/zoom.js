// The picture, nearer: z steps in and out, the wheel and two fingers zoom, dragging and the arrows move it, Esc ends it.
// Without this the key and a click open the picture itself.
(() => {
  "use strict";
  const box = document.querySelector("[data-zoom]");
  if (!box) return;
  const image = box.querySelector("img");
  const STEPS = [1, 2, 4];
  const MOST = 8;
  let scale = 1;
  let x = 0;
  let y = 0;

  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  const apply = () => {
    const rect = box.getBoundingClientRect();
    x = clamp(x, rect.width * (1 - scale), 0);
    y = clamp(y, rect.height * (1 - scale), 0);
    image.style.transform = scale === 1 ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    box.classList.toggle("is-zoomed", scale !== 1);
  };
  // The point (px, py) of the box stays where it is.
  const zoomTo = (next, px, py) => {
    const to = clamp(next, 1, MOST);
    x = px - ((px - x) * to) / scale;
    y = py - ((py - y) * to) / scale;
    scale = to;
    apply();
  };
  const middle = () => [box.clientWidth / 2, box.clientHeight / 2];
  const place = (event) => {
    const rect = box.getBoundingClientRect();
    return [event.clientX - rect.left, event.clientY - rect.top];
  };
  const step = (px, py) => zoomTo(STEPS.find((one) => one > scale + 0.01) || 1, px, py);

  let moved = false;
  box.querySelector("a").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (moved) return;
    // A click that a key made has no place of its own.
    step(...(event.detail === 0 ? middle() : place(event)));
  });
  box.addEventListener("wheel", (event) => {
    if (scale === 1 && event.deltaY > 0) return;
    event.preventDefault();
    zoomTo(scale * Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), ...place(event));
  }, { passive: false });

  const fingers = new Map();
  let spread = 0;
  const distance = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  box.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, place(event));
    moved = false;
    if (fingers.size === 2) spread = distance([...fingers.values()]);
  });
  box.addEventListener("pointermove", (event) => {
    const from = fingers.get(event.pointerId);
    if (!from) return;
    const to = place(event);
    fingers.set(event.pointerId, to);
    if (fingers.size === 2) {
      const now = distance([...fingers.values()]);
      const [a, b] = [...fingers.values()];
      zoomTo((scale * now) / (spread || now), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      spread = now;
      moved = true;
      return;
    }
    if (scale === 1) return;
    if (!moved && Math.hypot(to[0] - from[0], to[1] - from[1]) < 1) return;
    if (!moved) box.setPointerCapture(event.pointerId);
    moved = true;
    x += to[0] - from[0];
    y += to[1] - from[1];
    apply();
  });
  const lift = (event) => {
    fingers.delete(event.pointerId);
    // The click that ends a drag comes after this.
    setTimeout(() => { moved = false; });
  };
  for (const name of ["pointerup", "pointercancel"]) box.addEventListener(name, lift);
  box.addEventListener("dragstart", (event) => event.preventDefault());

  const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  document.addEventListener("keydown", (event) => {
    if (scale === 1 || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.target.closest?.("input, textarea, select, dialog, [contenteditable]")) return;
    if (event.key === "Escape") {
      zoomTo(1, ...middle());
    } else if (ARROWS[event.key]) {
      // Before the keys of the page see it: an arrow moves the picture while it is near.
      event.preventDefault();
      x += ARROWS[event.key][0] * box.clientWidth * 0.2;
      y += ARROWS[event.key][1] * box.clientHeight * 0.2;
      apply();
    }
  }, true);
  window.addEventListener("resize", apply);
})();
