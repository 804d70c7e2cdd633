// A run that moves says so to who listens: when its state changes, and at every tenth, not at each refresh.
(() => {
  "use strict";
  const said = document.getElementById("run-said");
  const say = () => {
    const words = document.getElementById("live")?.dataset.said;
    if (said && words && said.textContent !== words) said.textContent = words;
  };
  document.addEventListener("htmx:afterSettle", say);
})();
