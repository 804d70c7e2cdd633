// Runs in the head before the first paint, so that a page never flashes in the wrong theme.
(() => {
  "use strict";
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null; // Storage can be switched off; the system's choice then holds.
    }
  };
  const apply = () => {
    const choice = chosen();
    const theme = choice === "light" || choice === "dark" ? choice : dark.matches ? "dark" : "light";
    document.documentElement.dataset.bsTheme = theme;
    document.dispatchEvent(new CustomEvent("themechange", { detail: theme }));
  };
  const next = () => {
    const theme = document.documentElement.dataset.bsTheme === "dark" ? "light" : "dark";
    try {
      // Choosing what the system says anyway means: follow the system again.
      if ((theme === "dark") === dark.matches) localStorage.removeItem("theme");
      else localStorage.setItem("theme", theme);
    } catch {
      document.documentElement.dataset.bsTheme = theme;
      document.dispatchEvent(new CustomEvent("themechange", { detail: theme }));
      return;
    }
    apply();
  };
  apply();
  dark.addEventListener("change", apply);
  window.addEventListener("storage", (event) => event.key === "theme" && apply());
  document.addEventListener("click", (event) => event.target.closest("[data-theme-toggle]") && next());
})();
