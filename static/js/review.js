// One decision: a key acts only on the item that was shown, and the next picture is there before it is wanted.
(() => {
  "use strict";
  const QUIET = 400; // ms without a press that end a burst
  const SEEN = 250; // ms that a picture is on screen before a key may decide about it
  const form = document.getElementById("decide");
  const picture = document.querySelector("img[data-shown]");
  const typing = (target) => target.closest?.("input:not([type=checkbox]), textarea, select");

  // Presses of one burst belong to the item that the first one met, however many pages they fall on.
  const PRESS = "review-press";
  const last = () => {
    try {
      return Number(sessionStorage.getItem(PRESS)) || 0;
    } catch {
      return 0;
    }
  };
  const press = () => {
    const before = last();
    try {
      sessionStorage.setItem(PRESS, String(Date.now()));
    } catch {
      return false; // Without storage only the time that the picture was seen guards.
    }
    return Date.now() - before < QUIET;
  };
  // Shown: decoded and painted, in a window that is looked at.
  let shownAt = null;
  let waking = null;
  const ready = () => {
    if (!form) return;
    delete form.dataset.ready;
    clearTimeout(waking);
    waking = setTimeout(() => { form.dataset.ready = ""; }, Math.max(SEEN, last() + QUIET - Date.now()));
  };
  const painted = () => requestAnimationFrame(() => requestAnimationFrame(() => {
    shownAt = performance.now();
    ready();
  }));
  if (picture) picture.decode().then(painted, painted);
  else painted();

  let decided = false;
  const mayDecide = (burst) => !decided && !burst && shownAt !== null && performance.now() - shownAt >= SEEN;
  const deciding = (key) => [...document.querySelectorAll("[data-decides]")].find((button) => button.dataset.key.split(" ").includes(key));
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229 || event.repeat || event.altKey || event.shiftKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    const key = (event.ctrlKey || event.metaKey ? "mod+" : "") + event.key.toLowerCase();
    if (!deciding(key)) return;
    const burst = press();
    if (shownAt !== null) ready();
    if (mayDecide(burst)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);

  // The next picture, once this one is there.
  const ahead = new Image();
  const fetchNext = () => { if (form?.dataset.nextPicture) ahead.src = form.dataset.nextPicture; };
  if (picture && !picture.complete) picture.addEventListener("load", fetchNext, { once: true });
  else fetchNext();

  if (form) {
    const comment = form.elements.comment;
    const [sendBack, reject] = ["sent_back", "rejected"].map((value) => form.querySelector(`[value=${value}]`));
    const warnings = () => [...document.querySelectorAll("[data-warning]")];
    const open = () => warnings().filter((box) => !box.checked);
    const words = form.querySelector("[data-open-warnings]");
    const count = () => {
      warnings().forEach((box) => { box.dataset.key = box.checked ? "" : "w"; });
      if (words) words.textContent = open().length ? `${open().length} warning${open().length === 1 ? "" : "s"} to tick (w)` : "each warning seen";
    };
    count();
    // Ctrl/Cmd+Enter sends what was begun: back, or the rejection.
    const arm = (button) => {
      for (const one of [sendBack, reject]) one.dataset.key = one === button ? "mod+enter" : one === reject ? "x" : "";
      form.dataset.armed = button.value;
      sendBack.querySelector("kbd").hidden = button !== sendBack;
      reject.querySelector("kbd").textContent = button === reject ? "Ctrl Enter" : "x";
      comment.focus();
    };
    document.addEventListener("change", (event) => {
      if (event.target.matches("[data-warning]")) count();
      if (event.target.name === "failing" && event.target.checked) arm(sendBack);
    });

    let sending = false;
    const fail = (said) => window.studio.toast(`Not saved: ${said}. Your decision is still here.`);
    const submit = async (button) => {
      const body = new URLSearchParams(new FormData(form));
      body.set("verdict", button.value);
      sending = decided = true;
      form.setAttribute("aria-busy", "true");
      const result = await window.studio.send(form.action, body);
      if (result.outcome === "ok") {
        location.assign(result.data.next);
        return;
      }
      sending = decided = false;
      form.removeAttribute("aria-busy");
      if (result.outcome === "signed out") {
        fail(result.words);
        if (await window.studio.signIn()) submit(button);
      } else if (result.outcome === "offline") fail(result.words);
      else window.studio.toast(`Not saved: ${result.words}`, { link: location.href, linkText: "Look at it again" });
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (sending) return;
      const button = event.submitter || form.querySelector(`[value=${form.dataset.armed || "sent_back"}]`);
      if (button.value === "approved") {
        if (open().length) {
          open()[0].focus();
          window.studio.toast("Tick each warning first (w), or mend what it names.", { tone: "warn" });
          return;
        }
      } else if (!comment.value.trim()) {
        arm(button);
        window.studio.toast(button.value === "rejected" ? "Say why it is rejected." : "Say what is wrong, so that it can be mended.", { tone: "warn" });
        return;
      } else if (button.value === "sent_back" && !form.querySelector("[name=failing]:checked")) {
        form.querySelector("[name=failing]").focus();
        window.studio.toast("Name the check that fails: 1 to 4.", { tone: "warn" });
        return;
      }
      submit(button);
    });
    window.addEventListener("beforeunload", (event) => !decided && comment.value.trim() && comment.value !== comment.defaultValue && event.preventDefault());
    window.addEventListener("pageshow", (event) => { if (event.persisted) sending = decided = false; });
  }

  // A comment on one line.
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-comment-line]");
    if (!button) return;
    const remark = document.getElementById("remark");
    remark.form.elements.line.value = button.dataset.commentLine;
    remark.focus();
  });
})();
