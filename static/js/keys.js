// Keys: an element with data-key="a" is clicked by that key (several: data-key="1 y"). Its words in the list that
// `?` opens are data-key-label, else aria-label, else its text. Never inside a text field, during composition, with
// a modifier, on auto-repeat, or for a bare Enter or Backspace. "mod+enter" is Ctrl or Cmd with Enter and works in
// a text field too; Esc leaves a text field.
(() => {
  "use strict";
  const NAMES = { arrowleft: "←", arrowright: "→", arrowup: "↑", arrowdown: "↓", "mod+enter": "Ctrl/Cmd+Enter", "mod+z": "Ctrl/Cmd+Z", " ": "Space", escape: "Esc" };
  const REFUSED = new Set(["enter", "backspace"]);
  const TYPING = 'input:not([type="checkbox"]):not([type="radio"]):not([type="button"]):not([type="submit"]):not([type="range"]):not([type="file"]), textarea, select, [contenteditable=""], [contenteditable="true"]';
  const ARROWS_TAKEN = 'input[type="radio"], input[type="range"], [role="radio"], [role="slider"], summary';

  const visible = (element) => element.getClientRects().length > 0 && !element.disabled && element.getAttribute("aria-disabled") !== "true";
  const keysOf = (element) => element.dataset.key.toLowerCase().split(" ").filter(Boolean);
  const scope = () => document.querySelector("dialog[open]") || document;
  const find = (key) => [...scope().querySelectorAll("[data-key]")].find((element) => keysOf(element).includes(key) && visible(element));
  const labelOf = (element) => {
    if (element.dataset.keyLabel) return element.dataset.keyLabel;
    if (element.getAttribute("aria-label")) return element.getAttribute("aria-label");
    const copy = element.cloneNode(true);
    copy.querySelectorAll("kbd, svg").forEach((child) => child.remove());
    return copy.textContent.trim().replace(/\s+/g, " ") || element.value || element.placeholder || "";
  };

  const row = (list, keys, label) => {
    const term = document.createElement("dt");
    keys.forEach((key) => {
      const cap = document.createElement("kbd");
      cap.textContent = NAMES[key] || key;
      term.append(cap, " ");
    });
    const words = document.createElement("dd");
    words.textContent = label;
    list.append(term, words);
  };
  const help = () => {
    const dialog = document.getElementById("keys-dialog");
    if (!dialog || dialog.open || scope() !== document) return;
    const list = dialog.querySelector("[data-key-list]");
    list.replaceChildren();
    document.querySelectorAll("[data-key]").forEach((element) => visible(element) && row(list, keysOf(element), labelOf(element)));
    row(list, ["escape"], "Leave a text field, close this");
    row(list, ["?"], "List the keys of this page");
    dialog.showModal();
  };

  const name = (event) => {
    const key = event.key.toLowerCase();
    if (event.altKey) return null;
    if (event.ctrlKey || event.metaKey) return event.shiftKey ? null : `mod+${key}`;
    // Shift is part of a sign such as `?`, but a modifier of a letter or an arrow.
    if (event.shiftKey && (key.length > 1 || /\p{L}/u.test(key))) return null;
    return key;
  };
  const act = (element) => {
    if (element.matches(TYPING)) element.focus();
    else element.click();
  };
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.repeat || event.defaultPrevented) return;
    const typing = event.target.closest?.(TYPING);
    if (typing && event.key === "Escape" && !event.target.closest("dialog")) {
      typing.blur();
      return;
    }
    const key = name(event);
    if (!key || REFUSED.has(key) || (typing && key !== "mod+enter")) return;
    if (key.startsWith("arrow") && event.target.closest?.(ARROWS_TAKEN)) return;
    if (key === " " && event.target.closest?.("a, button, summary, input, label")) return;
    if (key === "?") {
      event.preventDefault();
      help();
      return;
    }
    const element = find(key);
    if (!element) return;
    event.preventDefault();
    act(element);
  });
  document.addEventListener("click", (event) => event.target.closest("[data-keys-open]") && help());
})();
