// Labelling: a press is written down, the next answer is shown at once from memory, and the press is sent meanwhile. A press that
// was not stored brings its answer back, with the choice kept, and says why. One press is under way at a time.
// The form works without any of this: then each page is its own client and its one press is number 1.
(() => {
  "use strict";
  const { queue, time, guide } = window.labelling;
  const RETRIES = [1000, 2000, 4000, 8000];
  // Nobody reads an answer faster: the second click of a double click, or a key that bounces, means the answer before.
  const REST = { pointer: 500, key: 150 };

  const room = document.getElementById("label-room");
  const current = () => document.getElementById("labelling");
  const form = (box) => box.querySelector("#label-form");
  const field = (box, name) => form(box).elements.namedItem(name);
  const taskOf = (box) => box.dataset.task;
  // In a pool nothing is fetched ahead: an answer that waits in memory would keep its place from others.
  const nextOf = (box) => box.querySelector("[data-ahead]")?.getAttribute("href") || null;
  const person = document.querySelector('meta[name="person"]').content;

  const client = field(current(), "client").value; // a page that is loaded is one client; its presses are counted
  let sequence = 0;
  let ready = null; // {from, address, box}: the answer that follows, in memory alone
  let preparing = ""; // what is being fetched for it
  let saving = queue.flushed; // settles when the press under way is stored or has failed
  const settled = () => saving.catch(() => {});
  let failed = null; // {press, box, ahead, tries, timer}: the press that is not stored
  let scrolled = window.scrollY > 0; // asking for it costs a layout
  window.addEventListener("scroll", () => { scrolled = true; }, { passive: true });
  let changed = -Infinity; // when an answer came on the page
  let advancing = current().querySelector("[data-advance] button").value === "0";

  // What is typed and ticked on an answer that has no label yet stays with it in this tab.
  const draftName = (box) => `label-draft:${person}:${taskOf(box)}`;
  const draft = (box, value) => {
    try {
      if (value === null) sessionStorage.removeItem(draftName(box));
      else if (value !== undefined) sessionStorage.setItem(draftName(box), JSON.stringify(value));
      return JSON.parse(sessionStorage.getItem(draftName(box)));
    } catch {
      return null;
    }
  };
  const putBack = (box) => {
    const kept = draft(box);
    if (!kept) return;
    field(box, "comment").value = kept.comment;
    field(box, "unsure").checked = kept.unsure;
  };
  document.addEventListener("input", (event) => {
    const box = current();
    if (event.target.form === form(box)) draft(box, { comment: field(box, "comment").value, unsure: field(box, "unsure").checked });
  });

  // Showing ------------------------------------------------------------------
  const mark = (box, choice) => form(box).querySelectorAll("[name=detect]").forEach((button) => button.setAttribute("aria-pressed", String(button.value === choice)));
  const habit = (box) => {
    const button = box.querySelector("[data-advance] button");
    button.value = advancing ? "0" : "1";
    button.setAttribute("aria-pressed", String(advancing));
    button.querySelector("[data-on]").textContent = advancing ? "on" : "off";
  };
  const rest = () => {
    changed = performance.now();
    const box = current();
    for (const [kind, wait] of Object.entries(REST)) setTimeout(() => { box.dataset.ready = kind; }, wait);
  };
  const show = (box, address, { push = true } = {}) => {
    const old = current();
    if (old !== box) {
      const focused = old.contains(document.activeElement);
      old.replaceWith(box);
      delete box.dataset.ready;
      if (focused) box.querySelector(".label-case").focus({ preventScroll: true });
    }
    if (push && address) history.pushState(null, "", address);
    if (scrolled) window.scrollTo(0, 0);
    scrolled = false;
    habit(box);
    time.begin(taskOf(box));
    rest();
  };
  // The parts of a page that a stored press changes, as the server tells them.
  const refresh = (data) => {
    const box = current();
    for (const name of ["state", "moves"]) {
      const fresh = new DOMParser().parseFromString(data[name], "text/html").querySelector(`[data-part=${name}]`);
      const old = box.querySelector(`[data-part=${name}]`);
      const focused = old.contains(document.activeElement) ? document.activeElement.dataset.key : null;
      old.replaceWith(document.adoptNode(fresh));
      if (focused) box.querySelector(`[data-key="${focused}"]`)?.focus({ preventScroll: true });
    }
    if (data.version && String(data.version) !== document.getElementById("label-guide").dataset.version) renewGuide();
  };
  const renew = async (box) => {
    const data = await queue.standing(form(box).getAttribute("action")).catch(() => null);
    if (data && current() === box) refresh(data);
  };
  // The guidelines have changed under the page: the new text and the announcement come in, what is typed stays.
  const renewGuide = async () => {
    const response = await fetch(location.href).catch(() => null);
    if (!response?.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const id of ["label-guide", "label-news"]) {
      const fresh = page.getElementById(id);
      if (fresh) document.getElementById(id).replaceWith(document.adoptNode(fresh));
    }
    guide();
  };

  // What follows is fetched before it is wanted, and never kept but in memory.
  const prepare = async () => {
    const box = current();
    const address = nextOf(box);
    const wanted = `${taskOf(box)} ${address}`;
    if (!address || preparing === wanted || (ready?.from === taskOf(box) && ready.address === address)) return;
    ready = null;
    preparing = wanted;
    const fetched = await queue.part(address).catch(() => null);
    if (preparing === wanted) preparing = "";
    if (!fetched || current() !== box || nextOf(box) !== address) return;
    ready = { from: taskOf(box), address, box: document.adoptNode(fetched) };
    putBack(ready.box);
    room.dataset.prepared = taskOf(ready.box);
  };

  const unsaved = () => {
    if (!failed || failed.final) return false;
    history.replaceState(null, "", failed.press.address);
    window.studio.toast("This label is not saved yet. Try again, then go on.", { tone: "warn" });
    return true;
  };
  const go = async (address, { push = true } = {}) => {
    const before = current();
    await settled();
    if (current() !== before || unsaved()) return;
    failed = null;
    const fetched = await queue.part(address).catch(() => null);
    if (!fetched) return location.assign(address);
    const box = document.adoptNode(fetched);
    putBack(box);
    show(box, address, { push });
    prepare();
  };

  // A press ------------------------------------------------------------------
  const written = (box, choice) => {
    const before = failed?.box === box ? Number(failed.press.fields.seconds) : 0;
    sequence += 1;
    return {
      address: form(box).getAttribute("action"),
      place: box.dataset.place,
      seen: box.dataset.label,
      fields: {
        detect: choice,
        unsure: field(box, "unsure").checked ? "on" : "",
        comment: field(box, "comment").value,
        client,
        sequence: String(sequence),
        seconds: (before + time.take()).toFixed(2),
        guideline: document.getElementById("label-guide").dataset.version,
      },
    };
  };
  // The press that failed, if this is the same again; so that it is stored once, whether or not the server had it.
  const again = (box, choice) => {
    const { press } = failed?.box === box ? failed : {};
    const same = press && press.fields.detect === choice && press.fields.comment === field(box, "comment").value && (press.fields.unsure === "on") === field(box, "unsure").checked;
    return same && !failed.final ? press : null;
  };

  const press = async (choice) => {
    const box = current();
    if (box.dataset.sending) return;
    box.dataset.sending = "";
    mark(box, choice);
    await settled();
    if (current() !== box) {
      // The press before was not stored and its answer is back: this one is chosen again when it is on the page.
      delete box.dataset.sending;
      mark(box, null);
      return;
    }
    saving = attempt(again(box, choice) || written(box, choice), box);
  };

  const painted = () => new Promise((resolve) => {
    setTimeout(resolve, 50); // a page that nobody sees is not painted
    requestAnimationFrame(() => setTimeout(resolve));
  });
  const attempt = async (one, box, { ask = true } = {}) => {
    box.querySelector("[data-failed]").hidden = true;
    clearTimeout(failed?.timer);
    const tries = failed?.press === one ? failed.tries : 0;
    const safe = queue.add(one);
    // The way on is asked of the page again: what was fetched before the last press was stored may have been overtaken by it.
    const ahead = advancing && ready?.from === taskOf(box) && ready.address === nextOf(box) ? ready : null;
    if (ahead && tries === 0) {
      forward(box, ahead);
      await painted(); // what a request costs comes after the frame that a person waits for
      if (nextOf(ahead.box) !== one.address) prepare();
    }
    const result = await queue.send(one, ahead ? taskOf(ahead.box) : taskOf(box));
    delete box.dataset.sending;
    if (result.outcome === "ok") return stored(one, box, ahead, result.data);
    failed = { press: one, box, ahead, tries: tries + 1, timer: null, final: result.final };
    comeBack(one, box);
    say(box, result, safe);
    if (result.outcome === "offline") failed.timer = setTimeout(retry, RETRIES[Math.min(tries, RETRIES.length - 1)], { later: true });
    if (result.outcome === "signed out" && ask) window.studio.signIn().then((signedIn) => signedIn && retry({ ask: false }));
  };

  const forward = (box, ahead) => {
    show(ahead.box, ahead.address);
    const undo = ahead.box.querySelector("[data-back]");
    const link = Object.assign(document.createElement("a"), { className: "btn btn-secondary", href: form(box).getAttribute("action"), innerHTML: undo.innerHTML });
    Object.assign(link.dataset, { go: "", back: "", key: "u mod+z", keyLabel: "Undo: back to the label before" });
    undo.replaceWith(link);
    ready = null;
  };
  const comeBack = (one, box) => {
    if (current() === box) return;
    ready = failed.ahead;
    show(box, one.address, { push: false });
    history.replaceState(null, "", one.address);
  };

  const stored = async (one, box, ahead, data) => {
    failed = null;
    box.dataset.label = `${one.fields.client}:${one.fields.sequence}`;
    draft(box, null);
    if (ahead && current() === box) forward(box, ahead);
    if (!ahead && advancing) {
      if (!data.more) return location.assign(data.next);
      const fetched = await queue.part(data.next).catch(() => null);
      if (!fetched) return location.assign(data.next);
      show(document.adoptNode(fetched), data.next);
    } else {
      if (!ahead) rest();
      await renew(current());
    }
    prepare();
  };

  const say = (box, result, safe) => {
    const kept = safe ? "Your choice is kept in this browser and is saved as soon as the server answers." : "Your choice is kept on this page only: leave it open.";
    const sentence = `${result.words[0].toUpperCase()}${result.words.slice(1).replace(/\.$/, "")}.`;
    box.querySelector("[data-failed-text]").textContent = `${sentence} ${failed.final ? "" : result.outcome === "offline" ? kept : "Your choice is kept."}`;
    box.querySelector("[data-failed]").hidden = false;
  };
  const retry = ({ ask = true, later = false } = {}) => {
    if (!failed || current() !== failed.box || failed.box.dataset.sending !== undefined) return;
    const { box, press: one } = failed;
    const choice = one.fields.detect;
    if (later && document.activeElement === field(box, "comment")) {
      failed.timer = setTimeout(retry, RETRIES[0], { later }); // nothing moves away under a person who types
      return;
    }
    box.dataset.sending = "";
    mark(box, choice);
    saving = attempt(again(box, choice) || written(box, choice), box, { ask });
  };

  // Keys, clicks and forms ---------------------------------------------------
  let pointer = false;
  document.addEventListener("click", (event) => { pointer = event.detail > 0; }, true);
  document.addEventListener("submit", (event) => {
    const { submitter } = event;
    if (event.target.id === "label-form") {
      event.preventDefault();
      if (submitter?.name === "flagged") flag(submitter);
      else if (submitter?.name === "detect" && performance.now() - changed >= (pointer ? REST.pointer : REST.key)) press(submitter.value);
    } else if (event.target.matches(".label-news")) {
      event.target.elements.task.value = taskOf(current()); // where it goes on
    } else if (event.target.matches("[data-advance]")) {
      event.preventDefault();
      advance(event.target);
    }
  }, true);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-retry]")) return retry();
    const link = event.target.closest("a[data-go]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(link.getAttribute("href"));
  });
  window.addEventListener("popstate", () => go(location.href, { push: false }));
  window.addEventListener("online", () => failed && !failed.final && retry({ later: true }));

  const told = (result, what) => result.outcome === "ok" || window.studio.toast(`${what}: ${result.words}.`);
  const flag = async (button) => {
    const box = current();
    const data = new FormData();
    data.set("flagged", button.value);
    const result = await window.studio.send(button.getAttribute("formaction"), data);
    if (!told(result, "The flag is not saved")) return;
    button.value = result.data.flagged ? "0" : "1";
    button.setAttribute("aria-pressed", String(result.data.flagged));
    button.querySelector("span").textContent = result.data.flagged ? "Flagged" : "Flag";
    if (current() === box) refresh(result.data);
  };
  const advance = async (habitForm) => {
    const data = new FormData();
    data.set("on", habitForm.querySelector("button").value);
    const result = await window.studio.send(habitForm.getAttribute("action"), data);
    if (!told(result, "Not changed")) return;
    advancing = result.data.on;
    habit(current());
  };

  window.addEventListener("beforeunload", (event) => failed && !queue.read().length && !failed.final && event.preventDefault());
  putBack(current());
  time.begin(taskOf(current()));
  current().dataset.ready = "pointer";
  queue.flushed.then((sent) => (sent ? go(location.href, { push: false }) : prepare()));
})();
