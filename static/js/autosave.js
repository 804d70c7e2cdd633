// What is typed is kept on the server as a draft: a second after the last key, on leaving a field, and on leaving the page.
// A save is sent once the draft is there, so that neither a stopped server nor a session that ended loses a word.
(() => {
  "use strict";
  const sheet = document.querySelector("[data-sheet]");
  if (!sheet) return;
  const status = document.querySelector("[data-draft-status]");
  const address = sheet.dataset.autosave;
  const PAUSE = 1000;
  const RETRIES = [2000, 4000, 8000, 10000];

  // The tab is one client; its messages are counted, so that one that arrives late is known as stale.
  const store = (name, value) => {
    try {
      if (value !== undefined) sessionStorage.setItem(`draft-${name}`, value);
      return sessionStorage.getItem(`draft-${name}`);
    } catch {
      return null;
    }
  };
  const fresh = () => ([1e7] + -1e3 + -4e3 + -8e3 + -1e11).replace(/[018]/g, (c) => (c ^ (crypto.getRandomValues(new Uint8Array(1))[0] & (15 >> (c / 4)))).toString(16));
  let client = store("client") || store("client", fresh()) || fresh();
  let sequence = Number(store("sequence")) || 0;
  const count = () => {
    sequence += 1;
    store("sequence", String(sequence));
    return String(sequence);
  };

  let changed = false; // something is typed that the server does not have
  let busy = null; // the request that is under way
  let timer = null;
  let tries = 0;
  let wanted = null; // the button of a save that waits for the server
  let leaving = false;

  const say = (words, bad = false) => {
    status.textContent = words;
    status.classList.toggle("is-bad", bad);
    sheet.classList.toggle("is-unkept", changed);
  };
  const signature = () => ({ client, sequence: count(), seen_client: sheet.dataset.seenClient || "", seen_sequence: sheet.dataset.seenSequence || "" });
  const body = () => {
    const data = new URLSearchParams(new FormData(sheet));
    for (const [name, value] of Object.entries(signature())) data.set(name, value);
    return data;
  };
  const later = (delay) => {
    clearTimeout(timer);
    timer = setTimeout(push, delay);
  };

  const push = async () => {
    clearTimeout(timer);
    if (busy) {
      await busy;
      if (!changed && !wanted) return true;
    }
    changed = false;
    busy = window.studio.send(address, body());
    const result = await busy;
    busy = null;
    if (result.outcome === "ok") return kept(result.data);
    changed = true;
    if (result.outcome === "offline") {
      say("Not saved: the server can't be reached. Your text stays here, and is saved as soon as it can be.", true);
      later(RETRIES[Math.min(tries, RETRIES.length - 1)]);
      tries += 1;
    } else if (result.outcome === "signed out") {
      say("Not saved: you are signed out. Your text stays here.", true);
      if (await window.studio.signIn()) return push();
    } else if (result.data?.overtaken) {
      // A tab that was duplicated has the other's number: it is a window of its own.
      client = fresh();
      store("client", client);
      return push();
    } else if (result.data?.other_window && wanted) {
      save(wanted);
    } else {
      wanted = null;
      say(`Not saved: ${result.words}`, true);
    }
    return false;
  };
  const kept = (data) => {
    tries = 0;
    const moved = data.moved_on ? " Somebody else changed the item meanwhile: saving shows both texts." : "";
    say(data.kept ? `Draft saved ${data.at} UTC.${moved}` : "");
    if (changed) later(PAUSE);
    if (wanted) save(wanted);
    return true;
  };

  sheet.addEventListener("input", () => {
    changed = true;
    sheet.classList.add("is-unkept");
    if (tries === 0) later(PAUSE);
  });
  sheet.addEventListener("focusout", () => changed && tries === 0 && push());
  window.addEventListener("online", () => changed && push());
  window.addEventListener("focus", () => changed && tries > 0 && push());
  const part = () => {
    if (!changed) return;
    changed = false;
    window.studio.send(address, body(), { keepalive: true }).then(({ outcome }) => {
      if (outcome === "ok") return;
      // The page was only out of sight, and the server did not get it.
      changed = true;
      later(PAUSE);
    });
  };
  window.addEventListener("pagehide", part);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && part());

  // The save itself: the same form, sent by the browser once the server has the text.
  const hidden = (name, value) => {
    const field = sheet.elements[name] || Object.assign(document.createElement("input"), { type: "hidden", name });
    field.value = value;
    sheet.append(field);
  };
  const save = (button) => {
    wanted = null;
    leaving = true;
    changed = false; // What is typed from here on is not in this save.
    sheet.classList.remove("is-unkept");
    for (const [name, value] of Object.entries(signature())) hidden(name, value);
    sheet.requestSubmit(button.isConnected && button.form === sheet ? button : undefined);
  };
  sheet.addEventListener("submit", (event) => {
    if (leaving) return;
    event.preventDefault();
    if (wanted) return;
    wanted = event.submitter || sheet.querySelector("button:not([type=button])");
    push();
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) leaving = false; });

  // The draft that was opened is on the server; what a recomputed page holds is not.
  if (sheet.classList.contains("is-dirty") && !("kept" in sheet.dataset)) {
    changed = true;
    later(PAUSE);
  }
  // What goes to review, or is put in, would leave behind what is only typed.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-needs-saved]") || !sheet.classList.contains("is-dirty")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    window.studio.toast("Save first: what you typed is not in the item yet.", { tone: "warn" });
  }, true);
})();
