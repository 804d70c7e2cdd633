// Labelling: says which press this is, how long it took, and keeps a choice that could not be saved.
// Loaded before the keys, so that no press comes too early for it. The form works without any of this: then each page is its own client and its one press is number 1.
(() => {
  "use strict";
  const form = () => document.getElementById("label-form");
  const field = (name) => form().elements.namedItem(name);

  // The tab is one client; its presses are counted, so that one that arrives late is known as stale.
  const store = (name, value) => {
    try {
      if (value !== undefined) sessionStorage.setItem(`label-${name}`, value);
      return sessionStorage.getItem(`label-${name}`);
    } catch {
      return null;
    }
  };
  const client = store("client") || store("client", field("client").value) || field("client").value;
  let pressed = Number(store("sequence")) || 0;
  let last = null;
  const number = (answer) => {
    const press = JSON.stringify([document.getElementById("labelling").dataset.task, answer, field("unsure").checked, field("comment").value]);
    if (press !== last) {
      last = press;
      pressed += 1;
      store("sequence", pressed);
    }
    return pressed;
  };

  // Seconds that the answer was in view, not those of a coffee in another tab.
  let seen = 0;
  let since = performance.now();
  const look = () => {
    if (since !== null) seen += performance.now() - since;
    since = document.visibilityState === "visible" ? performance.now() : null;
  };
  document.addEventListener("visibilitychange", look);

  let unsaved = null;
  const choices = () => [...form().querySelectorAll("[name=detect]")];
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "label-form" || event.target.dataset.busy || !event.submitter) return;
    look();
    unsaved = event.submitter.value;
    field("client").value = client;
    field("sequence").value = number(unsaved);
    field("seconds").value = (seen / 1000).toFixed(2);
    choices().forEach((button) => button.setAttribute("aria-pressed", String(button.value === unsaved)));
    document.getElementById("label-failed").hidden = true;
  }, true);

  const fail = (words) => {
    const note = document.getElementById("label-failed");
    note.querySelector("[data-failed-text]").textContent = words;
    note.hidden = false;
  };
  const reason = (xhr) => {
    const said = new DOMParser().parseFromString(xhr.responseText || "", "text/html").querySelector("[data-error-text]");
    return said ? said.textContent.trim() : xhr.status === 403 || xhr.status === 401 ? "You are signed out." : `The server failed (${xhr.status}).`;
  };
  const ours = (event) => event.detail.elt.id === "label-form";
  document.addEventListener("htmx:responseError", (event) => {
    if (!ours(event)) return;
    if (event.detail.xhr.status === 409) last = null;
    fail(reason(event.detail.xhr));
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => ours(event) && fail("The server can't be reached."));
  }
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (ours(event) && !event.detail.shouldSwap && event.detail.xhr.status < 400) fail("You are signed out.");
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-retry]")) return;
    choices().find((choice) => choice.value === unsaved)?.click();
  });

  // A new answer is on the page.
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "labelling") return;
    unsaved = null;
    seen = 0;
    since = document.visibilityState === "visible" ? performance.now() : null;
    open();
  });
  const open = () => {
    const details = document.querySelector("[data-guideline]");
    details.open = store("guideline") !== "closed";
    details.addEventListener("toggle", () => store("guideline", details.open ? "open" : "closed"));
  };
  open();
  window.addEventListener("beforeunload", (event) => unsaved !== null && !document.getElementById("label-failed").hidden && event.preventDefault());
})();
