// Sending what a person typed: says whether it arrived, and asks for the sign-in where the session is gone.
// studio.send(address, FormData or URLSearchParams) -> {outcome: "ok" | "offline" | "signed out" | "refused", words, data}.
(() => {
  "use strict";
  const signInUrl = () => document.querySelector('meta[name="sign-in-url"]').content;
  const cookie = () => document.cookie.split("; ").find((part) => part.startsWith("csrftoken="))?.slice("csrftoken=".length) || "";
  const person = () => document.querySelector('meta[name="person"]').content;
  // A sign-in gives a new token: every form of the page takes it over, and says whose page it is, as
  // somebody else may have signed in.
  const renew = () => {
    const token = cookie();
    if (!token) return;
    document.querySelectorAll("input[name=csrfmiddlewaretoken]").forEach((field) => {
      field.value = token;
      if (field.form.elements.person) return;
      field.after(Object.assign(document.createElement("input"), { type: "hidden", name: "person", value: person() }));
    });
    document.querySelector('meta[name="csrf-token"]').content = token;
  };
  const at = (response) => new URL(response.url || location.href).pathname;
  const gone = (response) => response.status === 401 || (response.redirected && at(response) === signInUrl());

  const read = async (response) => {
    if (!(response.headers.get("Content-Type") || "").startsWith("application/json")) return null;
    return response.json().catch(() => null);
  };
  const send = async (address, body, { keepalive = false } = {}) => {
    renew();
    const token = cookie() || body.get("csrfmiddlewaretoken") || "";
    body.set("csrfmiddlewaretoken", token);
    body.set("person", person());
    let response;
    try {
      response = await fetch(address, { method: "POST", body, keepalive, headers: { Accept: "application/json", "X-CSRFToken": token } });
    } catch {
      return { outcome: "offline", words: "the server can't be reached" };
    }
    if (gone(response)) return { outcome: "signed out", words: "you are signed out" };
    const data = await read(response);
    if (response.ok && data) return { outcome: "ok", words: "", data };
    if (response.status >= 502) return { outcome: "offline", words: "the server can't be reached" };
    // A token of a former session: the page's own session may be gone with it.
    if (response.status === 403 && !data) return { outcome: "signed out", words: "you are signed out" };
    return { outcome: "refused", words: data?.message || data?.detail || `the server failed (${response.status})`, data };
  };

  // The sign-in comes to the page, as leaving it would lose the place.
  const dialog = () => document.getElementById("sign-in-dialog");
  let waiting = [];
  const signIn = () => {
    const box = dialog();
    if (!box.open) {
      box.showModal();
      box.querySelector("[name=password]").focus();
    }
    return new Promise((resolve) => waiting.push(resolve));
  };
  const settle = (signedIn) => {
    waiting.forEach((resolve) => resolve(signedIn));
    waiting = [];
  };
  const attempt = async (form) => {
    const said = form.querySelector("[data-sign-in-error]");
    said.textContent = "";
    try {
      await fetch(signInUrl()); // brings a fresh token
      const body = new URLSearchParams(new FormData(form));
      const response = await fetch(signInUrl(), { method: "POST", body, redirect: "manual", headers: { "X-CSRFToken": cookie() } });
      if (response.type === "opaqueredirect") {
        renew();
        form.elements.password.value = "";
        dialog().close();
        return;
      }
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      said.textContent = page.querySelector(".form-errors, .errorlist, [data-error-text], .field-error")?.textContent.trim() || "That was not right; try again.";
      form.elements.password.select();
    } catch {
      said.textContent = "The server can't be reached.";
    }
  };
  document.addEventListener("submit", (event) => {
    if (event.target.closest("#sign-in-dialog") === null) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    attempt(event.target);
  }, true);
  document.addEventListener("click", (event) => event.target.closest("[data-sign-in-later]") && dialog().close());
  // Closed after a sign-in, by the button or by Esc: whoever waits tries once more and sees.
  document.addEventListener("close", (event) => event.target.id === "sign-in-dialog" && settle(event.target.querySelector("[name=password]").value === ""), true);

  window.studio.send = send;
  window.studio.signIn = signIn;
})();
