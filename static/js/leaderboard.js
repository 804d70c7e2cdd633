// The slider says its value while it moves.
(() => {
  "use strict";
  document.addEventListener("input", (event) => {
    const shown = document.querySelector(`output[data-value-of="${event.target.id}"]`);
    if (shown) shown.textContent = event.target.value;
  });
})();
