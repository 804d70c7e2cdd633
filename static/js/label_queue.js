// Presses that are not known to be stored: written down before they are sent, crossed out when the server has them.
// They lie in this browser under the person's name, so that nobody else's session sends them; an answer's text is none of it.
(() => {
  "use strict";
  const person = document.querySelector('meta[name="person"]').content;
  const NAME = `label-presses:${person}`;
  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(NAME)) || [];
    } catch {
      return [];
    }
  };
  const write = (presses) => {
    try {
      if (presses.length) localStorage.setItem(NAME, JSON.stringify(presses));
      else localStorage.removeItem(NAME);
      return true;
    } catch {
      return false;
    }
  };
  const id = (press) => `${press.fields.client}:${press.fields.sequence}`;
  // A later choice for the same answer takes the place of an earlier one. Says whether it is written down.
  const add = (press) => write([...read().filter((other) => other.address !== press.address), press]);
  const drop = (press) => write(read().filter((other) => id(other) !== id(press)));

  const body = (press, shown = "") => {
    // Read faster by the server than a FormData, which is sent in parts.
    const data = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...press.fields, shown })) if (value !== "") data.set(name, value);
    return data;
  };
  // Whether this is still the session of the person whose page it is: somebody else's refusal is none.
  const mine = async () => {
    const response = await fetch(location.href).catch(() => null);
    if (!response) return false;
    const meta = new DOMParser().parseFromString(await response.text(), "text/html").querySelector('meta[name="person"]');
    return meta?.content === person;
  };
  // The result of studio.send; `final` where the server said in words that it never stores this press. Crossed out
  // when it is stored or that is final.
  const send = async (press, shown) => {
    const result = await window.studio.send(press.address, body(press, shown));
    const final = result.outcome === "refused" && Boolean(result.data) && (await mine());
    if (result.outcome === "ok" || final) drop(press);
    return { ...result, final };
  };

  const part = async (address) => {
    const response = await fetch(address, { headers: { "HX-Request": "true", Accept: "text/html" } });
    return new DOMParser().parseFromString(response.ok ? await response.text() : "", "text/html").getElementById("labelling");
  };
  const standing = async (address) => {
    const response = await fetch(`${address}?part=standing`, { headers: { Accept: "application/json" } });
    return response.ok ? response.json() : null;
  };
  const words = (press) => `Your label of answer ${press.place} (${press.fields.detect === "1" ? "corrects" : "goes along"})`;
  // What an earlier page left behind: sent unless the answer has been labelled again since.
  const resend = async (press) => {
    const stored = (await part(press.address))?.dataset.label;
    if (stored === id(press)) return drop(press);
    if (stored !== undefined && stored !== press.seen) {
      drop(press);
      return window.studio.toast(`${words(press)} was kept in this browser and is not sent: you have labelled that answer again since.`, { tone: "warn" });
    }
    const { outcome, words: why } = await send(press);
    if (outcome === "ok") return window.studio.toast(`${words(press)} was kept in this browser and is saved now.`, { tone: "good" });
    return window.studio.toast(`${words(press)} is not saved: ${why}`);
  };
  const flush = async () => {
    const left = read();
    for (const press of left) {
      try {
        await resend(press);
      } catch {
        return left.length; // The server can't be reached; they stay.
      }
    }
    return left.length;
  };
  const loaded = new Promise((resolve) => {
    if (document.readyState === "complete") resolve();
    else document.addEventListener("DOMContentLoaded", resolve);
  });
  const flushed = loaded.then(flush);

  // Submitting locks the labels, so it waits for those that are not stored.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-submit-labels]") || !read().length) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    window.studio.toast("A label of yours is not saved yet. Reload the page, then submit.", { tone: "warn" });
  }, true);

  window.labelling = { ...window.labelling, queue: { add, send, part, standing, flushed, read } };
})();
