"""Keys pressed faster than a person looks, on whatever page is there by then."""

from playwright.sync_api import Page

# The keys that remain outlive the page. They are pressed by the page itself: between two presses from outside a busy
# machine can pause for so long that it is no burst.
PRESSING = """(() => {
  if (window.pressOn) return;
  window.pressOn = () => {
    const [key, ...rest] = JSON.parse(sessionStorage.getItem("burst") || "[]");
    sessionStorage.setItem("burst", JSON.stringify(rest));
    if (!key) return;
    const options = { key: key.replace("Control+", ""), ctrlKey: key.startsWith("Control+") };
    const target = document.activeElement || document.body;
    target.dispatchEvent(new KeyboardEvent("keydown", { ...options, bubbles: true, cancelable: true }));
    setTimeout(window.pressOn, 20);
  };
  addEventListener("DOMContentLoaded", window.pressOn);
})();"""
BEGIN = """(keys) => { sessionStorage.setItem("burst", JSON.stringify(keys)); window.pressOn(); }"""


def burst(page: Page, keys: list[str]) -> None:
    """Press keys 20 ms apart, over as many pages as they lead to; returns when all are pressed."""
    page.add_init_script(PRESSING)
    page.evaluate(PRESSING)
    page.evaluate(BEGIN, keys)
    page.wait_for_function("() => sessionStorage.getItem('burst') === '[]'")
