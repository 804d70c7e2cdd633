// Files from this computer: chosen or dropped, folders too, announced to the server and sent a few at a time. Only what
// is not there yet is sent, so the same files can be given again after a lost network or a closed tab.
(() => {
  "use strict";
  const AT_ONCE = 3;
  const WAITS = [1000, 2000, 4000, 8000]; // ms between tries while the server can't be reached
  const PATIENCE = 120000; // ms for one file
  const form = document.querySelector("[data-drop-form]");
  const zone = form?.querySelector("[data-drop]");
  const sender = document.querySelector("[data-sender]");
  if (!zone || !sender) return;
  const part = (name) => sender.querySelector(`[data-sender-${name}]`);
  const input = zone.querySelector('input[type="file"][name="photographs"]');
  const folder = zone.querySelector("[data-drop-folder]");
  const table = form.querySelector('input[name="table"]');
  const count = zone.querySelector("[data-drop-count]");
  const suffixes = new Set(sender.dataset.suffixes.split(" "));
  const suffix = (path) => path.toLowerCase().split(".").pop();
  const isPicture = ({ path, file }) => suffixes.has(suffix(path)) || file.type.startsWith("image/");
  const isTable = ({ path }) => ["csv", "json"].includes(suffix(path));
  const hidden = ({ path }) => path.split("/").some((name) => name === "__MACOSX" || name.startsWith("."));
  const words = (n) => (n === 1 ? "1 file" : `${n.toLocaleString("en")} files`);

  // What was chosen -----------------------------------------------------------
  let chosen = [];
  const choose = (given) => {
    const shown = given.filter((one) => !hidden(one));
    chosen = shown.filter(isPicture);
    // The file field takes what is no picture by its name too: it is then refused by name.
    if (given.every(({ path }) => !path.includes("/"))) chosen = shown.filter((one) => !isTable(one));
    const tables = shown.filter(isTable);
    const taken = table && !table.files.length && tables.length === 1 && chosen.length > 0;
    if (taken) {
      const holder = new DataTransfer();
      holder.items.add(tables[0].file);
      table.files = holder.files;
    }
    const bytes = chosen.reduce((sum, { file }) => sum + file.size, 0);
    const left = shown.length - chosen.length - (taken ? 1 : 0);
    const parts = [`${words(chosen.length)}, ${(bytes / 1e6).toFixed(1)} MB: chosen, not sent yet.`];
    if (taken) parts.push(`The table is ${tables[0].path}.`);
    if (left > 0) parts.push(`${words(left)} left out, as ${left === 1 ? "it is no picture" : "they are no pictures"}.`);
    count.textContent = parts.join(" ");
  };
  const listed = (files) => [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));

  // Folders that are dropped: their entries are read a hundred at a time.
  const entries = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  const walk = async (entry, found) => {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.push({ path: entry.fullPath.replace(/^\//, ""), file });
      return;
    }
    const reader = entry.createReader();
    for (let some = await entries(reader); some.length; some = await entries(reader)) {
      for (const inner of some) await walk(inner, found);
    }
  };
  const dropped = async (transfer) => {
    const tops = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!tops.some((entry) => entry.isDirectory)) return listed(transfer.files);
    const found = [];
    for (const entry of tops) await walk(entry, found);
    return found;
  };
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("drop-over");
    });
  }
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("drop-over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    count.textContent = "Reading what was dropped ...";
    try {
      const given = await dropped(event.dataTransfer);
      input.value = "";
      choose(given);
    } catch (error) {
      count.textContent = `The folder can't be read (${error.message || error}).`;
    }
  });
  input.addEventListener("change", () => choose(listed(input.files)));
  folder?.addEventListener("change", () => {
    input.value = "";
    choose(listed(folder.files));
  });

  // Sending ---------------------------------------------------------------------
  const csrf = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] || document.querySelector('meta[name="csrf-token"]').content;
  const signIn = () => document.querySelector('meta[name="sign-in-url"]').content;
  class Refused extends Error {}
  class SignedOut extends Error {}
  const post = async (url, fields) => {
    const body = new FormData();
    for (const [name, value, fileName] of fields) {
      if (fileName) body.append(name, value, fileName);
      else body.append(name, value);
    }
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), PATIENCE);
    try {
      const headers = { "X-CSRFToken": csrf(), Accept: "application/json" };
      const reply = await fetch(url, { method: "POST", body, headers, signal: limit.signal });
      if (new URL(reply.url).pathname === signIn() || reply.status === 401 || reply.status === 403) throw new SignedOut();
      if (reply.status >= 500) throw new Error(`the server failed (${reply.status})`);
      const answer = await reply.json().catch(() => ({}));
      if (!reply.ok) throw new Refused(answer.detail || `the server refused it (${reply.status}).`);
      return answer;
    } finally {
      clearTimeout(timer);
    }
  };

  const state = { running: false, stopped: false, batch: null, queue: [], done: 0, total: 0, refused: [], unsent: new Map() };
  const list = (name, rows) => {
    part(name).hidden = rows.length === 0;
    part(`${name}-count`).textContent = rows.length.toLocaleString("en");
    part(`${name}-list`).replaceChildren(...rows.slice(0, 200).map((text) => {
      const row = document.createElement("li");
      row.textContent = text;
      return row;
    }));
  };
  const show = (note) => {
    sender.hidden = false;
    part("bar").max = state.total || 1;
    part("bar").value = state.done;
    part("count").textContent = `${state.done.toLocaleString("en")} of ${words(state.total)} sent`;
    if (note !== undefined) part("note").textContent = note;
    list("refused", state.refused);
    list("rest", [...state.unsent].map(([path, why]) => (why ? `${path}: ${why}` : path)));
    part("title").textContent = state.running ? "Sending" : state.unsent.size ? "Not all was sent" : "All sent";
    part("stop").hidden = !state.running;
    part("again").hidden = state.running || !state.unsent.size;
    part("link").hidden = !state.batch;
    if (state.batch) part("link").href = state.batch.url;
  };
  const pause = (ms) => new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    window.addEventListener("online", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
  const readable = (file) => file.slice(0, 1).arrayBuffer().then(() => true, () => false);
  // One file, again and again while the network is away; what the server refuses is told and left.
  const send = async ({ path, file }) => {
    for (let tried = 0; !state.stopped; tried += 1) {
      try {
        const fate = await post(state.batch.send, [["path", JSON.stringify(path)], ["file", file, file.name]]);
        state.unsent.delete(path);
        state.done += 1;
        if (fate.outcome === "refused") state.refused.push(`${path}: ${fate.sentence}`);
        show(state.unsent.size ? "" : undefined);
        return;
      } catch (error) {
        if (error instanceof SignedOut) {
          state.stopped = true;
          show("You are signed out. Sign in in another tab, then send the rest.");
        } else if (error instanceof Refused) {
          state.unsent.set(path, error.message);
          show();
          return;
        } else if (!(await readable(file))) {
          state.unsent.set(path, "it changed or went away on this computer; choose it again.");
          show();
          return;
        } else {
          show(`The server can't be reached: ${words(state.unsent.size)} not sent yet. It is tried again.`);
          await pause(WAITS[Math.min(tried, WAITS.length - 1)]);
        }
      }
    }
  };
  const lane = async () => {
    while (state.queue.length && !state.stopped) await send(state.queue.shift());
  };
  const announce = async (files) => {
    const names = JSON.stringify(files.map(({ path, file }) => ({ path, size: file.size })));
    const fields = [["listing", new Blob([names], { type: "application/json" }), "files.json"]];
    if (table?.files.length && !state.batch) fields.push(["table", table.files[0], table.files[0].name]);
    return post(state.batch ? state.batch.again : sender.dataset.announce, fields);
  };
  const start = async (files) => {
    if (state.running || !files.length) return;
    state.running = true;
    state.stopped = false;
    try {
      const batch = await announce(files);
      state.batch = { ...batch, again: batch.url + "announce/" };
      const waiting = new Set(batch.waiting);
      state.queue = files.filter(({ path }) => waiting.has(path));
      state.total = files.length;
      state.done = files.length - state.queue.length;
      state.unsent = new Map(state.queue.map(({ path }) => [path, ""]));
      show(state.done ? `${words(state.done)} need not be sent.` : "");
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
    } catch (error) {
      const said = error instanceof SignedOut ? "You are signed out. Sign in in another tab, then try again." : error.message || String(error);
      state.unsent = new Map(files.map(({ path }) => [path, ""]));
      state.total = files.length;
      state.running = false;
      show(error instanceof Refused || error instanceof SignedOut ? said : `The server can't be reached (${said}). Nothing was sent.`);
      return;
    }
    state.running = false;
    show();
    if (!state.unsent.size) location.assign(state.batch.url);
    else if (!part("note").textContent) part("note").textContent = `${words(state.unsent.size)} not sent.`;
  };
  form.noValidate = true; // a folder is chosen outside the required field; that something is chosen is checked here
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    if (state.running) return;
    if (chosen.length) start(chosen);
    else count.textContent = "Choose or drop files first.";
  }, true);
  part("stop").addEventListener("click", () => {
    state.stopped = true;
    show(`Stopped. ${words(state.unsent.size)} not sent.`);
  });
  part("again").addEventListener("click", () => start(chosen));
  window.addEventListener("beforeunload", (event) => {
    if (state.running && state.unsent.size) event.preventDefault();
  });
})();
