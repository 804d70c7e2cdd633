// Disagreements: a choice by its key leads to the reason, which every decision needs.
(() => {
  "use strict";
  document.addEventListener("change", (event) => {
    if (!event.target.matches("#decision-form [name=detect]")) return;
    const reason = document.getElementById("decision-reason");
    if (!reason.value.trim()) reason.focus();
  });
})();
