// The drop zone: files dropped anywhere on it go into its file field, and it says how many there are.
(() => {
  "use strict";
  const zone = document.querySelector("[data-drop]");
  const input = zone?.querySelector('input[type="file"]');
  if (!input) return;
  const count = zone.querySelector("[data-drop-count]");
  const say = () => {
    const bytes = [...input.files].reduce((sum, file) => sum + file.size, 0);
    count.textContent = input.files.length ? `${input.files.length} files, ${(bytes / 1e6).toFixed(1)} MB` : "";
  };
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("drop-over");
    });
  }
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("drop-over"));
  zone.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    input.files = event.dataTransfer.files;
    say();
  });
  input.addEventListener("change", say);
})();
