// What every page shares: the CSRF header for htmx, words for a request that failed, no double submit.
(() => {
  "use strict";
  const csrf = () => document.querySelector('meta[name="csrf-token"]')?.content || "";

  // Toasts ------------------------------------------------------------------
  const toast = (text, { tone = "bad", link = null, linkText = "" } = {}) => {
    const box = document.getElementById("toasts");
    if (!box) return;
    const same = [...box.children].find((child) => child.dataset.text === text);
    if (same) return;
    const note = document.getElementById("toast-template").content.firstElementChild.cloneNode(true);
    note.classList.add(`note-${tone}`);
    note.dataset.text = text;
    const words = note.querySelector("[data-toast-text]");
    words.textContent = text;
    if (link) {
      const anchor = document.createElement("a");
      anchor.href = link;
      anchor.textContent = linkText;
      words.append(" ", anchor);
    }
    box.append(note);
    if (tone !== "bad") setTimeout(() => note.remove(), 6000);
  };
  window.studio = { toast };
  document.addEventListener("click", (event) => event.target.closest("[data-note-close]")?.closest(".note")?.remove());

  // htmx --------------------------------------------------------------------
  const signInUrl = () => document.querySelector('meta[name="sign-in-url"]')?.content || "/";
  const writes = (detail) => (detail.requestConfig?.verb || "get") !== "get";
  const prefix = (detail) => (writes(detail) ? "Not saved: " : "Not loaded: ");
  const expired = (detail) => {
    const back = encodeURIComponent(location.pathname + location.search);
    toast(`${prefix(detail)}you are signed out. What you typed is still here.`, { link: `${signInUrl()}?next=${back}`, linkText: "Sign in again" });
  };
  const sentence = (xhr) => {
    const type = xhr.getResponseHeader("Content-Type") || "";
    const text = (xhr.responseText || "").trim();
    if (type.startsWith("application/json")) {
      try {
        const body = JSON.parse(text);
        return body.message || body.detail || "";
      } catch {
        return "";
      }
    }
    if (type.startsWith("text/plain") && text.length < 400) return text;
    return new DOMParser().parseFromString(text, "text/html").querySelector("[data-error-text]")?.textContent.trim() || "";
  };
  const reasons = { 0: "the server can't be reached.", 400: "the server refused it.", 404: "this no longer exists, or isn't yours to see.", 409: "somebody else changed it meanwhile. Reload to see the change.", 413: "this is too large.", 429: "too many requests; wait a little." };

  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.verb !== "get") event.detail.headers["X-CSRFToken"] = csrf();
  });
  // A redirect to the sign-in page would be swapped into the middle of the page: say it instead.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr } = event.detail;
    if (xhr.responseURL && new URL(xhr.responseURL).pathname === signInUrl() && location.pathname !== signInUrl()) {
      event.detail.shouldSwap = false;
      expired(event.detail);
    }
  });
  document.addEventListener("htmx:responseError", (event) => {
    const { xhr } = event.detail;
    const said = sentence(xhr);
    if (xhr.status === 401 || (xhr.status === 403 && !said)) expired(event.detail);
    else toast(prefix(event.detail) + (said || reasons[xhr.status] || `the server failed (${xhr.status}).`));
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => {
      // A poll that fails is retried by itself; only what a person did is worth a toast.
      if (writes(event.detail)) toast(prefix(event.detail) + reasons[0]);
      else document.body.classList.add("is-offline");
    });
  }
  let inFlight = 0;
  const busy = (change) => {
    inFlight = Math.max(0, inFlight + change);
    document.body.classList.toggle("is-busy", inFlight > 0);
  };
  const polls = (event) => (event.detail.elt.getAttribute("hx-trigger") || "").includes("every");
  // Nobody looks: a page that refreshes itself waits until its tab is in front again.
  document.addEventListener("htmx:beforeRequest", (event) => document.hidden && polls(event) && event.preventDefault());
  document.addEventListener("htmx:beforeSend", (event) => polls(event) || busy(1));
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!polls(event)) busy(-1);
    if (event.detail.successful) document.body.classList.remove("is-offline");
  });

  // What refreshes itself leaves one where one is: the scroll of its tables, what is unfolded, and the focus.
  const SCROLLS = ".table-wrap, pre";
  const named = (part) => part.id || [part.tagName, part.getAttribute("href") || part.getAttribute("aria-labelledby") || part.getAttribute("aria-label") || part.form?.getAttribute("action") || part.textContent.trim()].join(" ");
  const alike = (box, part) => [...box.querySelectorAll(part.tagName)].filter((other) => named(other) === named(part));
  // A part is found again by its name, and by its number among those of the same name.
  const address = (box, part) => ({ tag: part.tagName, name: named(part), at: alike(box, part).indexOf(part) });
  const found = (box, { tag, name, at }) => [...box.querySelectorAll(tag)].filter((part) => named(part) === name)[at];
  const where = (box) => {
    const focused = box.contains(document.activeElement) ? document.activeElement : null;
    return {
      id: box.id,
      scrolled: [...box.querySelectorAll(SCROLLS)].filter((part) => part.scrollLeft || part.scrollTop).map((part) => ({ ...address(box, part), left: part.scrollLeft, top: part.scrollTop })),
      opened: [...box.querySelectorAll("details[open] > summary")].map((part) => address(box, part)),
      focused: focused && focused !== box ? address(box, focused) : null,
      within: focused !== null,
    };
  };
  const goBack = (box, before) => {
    before.scrolled.forEach((one) => found(box, one)?.scrollTo({ left: one.left, top: one.top, behavior: "instant" }));
    before.opened.forEach((one) => {
      const summary = found(box, one);
      if (summary) summary.parentElement.open = true;
    });
    if (!before.within || document.activeElement !== document.body) return;
    const again = (before.focused && found(box, before.focused)) || (box.hasAttribute("tabindex") ? box : null);
    again?.focus({ preventScroll: true });
  };
  let before = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target, requestConfig, shouldSwap } = event.detail;
    before = shouldSwap && target.id && requestConfig?.verb === "get" ? where(target) : null;
  });
  document.addEventListener("htmx:afterSwap", () => {
    const box = before && document.getElementById(before.id);
    if (box) goBack(box, before);
    before = null;
  });

  // A form that is sent when one is signed out: what was typed is kept in this tab and put back after the sign-in.
  const TYPED = "typed";
  const kept = (value) => {
    try {
      const former = sessionStorage.getItem(TYPED);
      if (value === undefined) sessionStorage.removeItem(TYPED);
      else sessionStorage.setItem(TYPED, JSON.stringify(value));
      return JSON.parse(former);
    } catch {
      return null;
    }
  };
  const secret = (form) => form.querySelector("input[type=password]") !== null;
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || secret(form)) return;
    const fields = [...new FormData(form)].filter(([name, value]) => name !== "csrfmiddlewaretoken" && typeof value === "string");
    kept({ page: location.pathname, action: form.getAttribute("action"), fields });
  });
  const putBack = ({ action, fields }) => {
    const form = [...document.forms].find((one) => one.method === "post" && one.getAttribute("action") === action);
    if (!form || secret(form)) return;
    for (const field of form.elements) {
      const values = fields.filter(([name]) => name === field.name).map(([, value]) => value);
      if (field.type === "checkbox" || field.type === "radio") field.checked = values.includes(field.value);
      else if (values.length && field.matches("input:not([name=csrfmiddlewaretoken], [type=file]), textarea, select")) field.value = values[0];
    }
    form.dispatchEvent(new Event("input", { bubbles: true }));
    toast("You were signed out, so nothing was saved. What you typed is here again: send it once more.", { tone: "warn" });
  };
  document.addEventListener("DOMContentLoaded", () => {
    if (location.pathname === signInUrl()) return;
    const typed = kept();
    const from = document.referrer && new URL(document.referrer).pathname;
    if (typed && from === signInUrl() && typed.page === location.pathname) putBack(typed);
  });

  // One press, one request --------------------------------------------------
  const release = (form) => form.querySelectorAll("[data-submitting]").forEach((button) => {
    button.disabled = false;
    delete button.dataset.submitting;
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.busy) {
      event.preventDefault();
      return;
    }
    if (form.method !== "post" || event.defaultPrevented || form.hasAttribute("data-many")) return;
    form.dataset.busy = "1";
    // After this event: a button that is disabled now would not be sent with the form.
    setTimeout(() => form.querySelectorAll("button:not([type=button]), input[type=submit]").forEach((button) => {
      if (button.disabled) return;
      button.disabled = true;
      button.dataset.submitting = "1";
    }));
  });
  // htmx stops the submit event before it gets here, so its requests are held back in the same way.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const form = event.detail.elt.closest("form");
    if (!form || event.detail.requestConfig.verb === "get" || form.hasAttribute("data-many")) return;
    if (form.dataset.busy) event.preventDefault();
    else form.dataset.busy = "1";
  });
  const free = (form) => {
    delete form.dataset.busy;
    release(form);
  };
  window.addEventListener("pageshow", () => document.querySelectorAll("form[data-busy]").forEach(free));
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.detail.elt.closest("form");
    if (form && event.detail.requestConfig?.verb !== "get") free(form);
  });

  // A form that asks before it acts: <form data-confirm="Really?">
  document.addEventListener("submit", (event) => {
    const words = event.submitter?.dataset.confirm || event.target.dataset.confirm;
    if (words && !window.confirm(words)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);

  // A table wider than its box scrolls in it, so the keyboard has to get there too.
  const reachable = () => document.querySelectorAll(".table-wrap:not([tabindex])").forEach((box) => {
    if (box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight) return;
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", box.querySelector("caption")?.textContent || "Table");
  });
  for (const name of ["load", "resize"]) window.addEventListener(name, reachable);
  document.addEventListener("htmx:afterSettle", reachable);

  // Navigation on narrow screens --------------------------------------------
  document.addEventListener("click", (event) => {
    const toggle = event.target.closest("[data-nav-toggle]");
    if (!toggle) return;
    const open = toggle.closest(".side").classList.toggle("open");
    toggle.setAttribute("aria-expanded", String(open));
  });
  document.addEventListener("change", (event) => event.target.closest("[data-autosubmit]") && event.target.form.requestSubmit());
  document.addEventListener("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) navigator.clipboard?.writeText(copy.dataset.copy).then(() => toast("Copied.", { tone: "good" }));
  });
})();
