// Charts: <div class="chart" data-vega-spec="#spec-id" aria-label="..."></div> beside {{ spec|json_script:"spec-id" }}.
// Or <div class="chart" data-vega-url="/…/spec.json">: drawn once it comes into sight.
// The spec is the one that the paper's figure is made of; only its surroundings follow the theme.
(() => {
  "use strict";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const config = () => {
    const ink = css("--ink");
    const soft = css("--ink-soft");
    const line = css("--line");
    const text = { labelColor: soft, titleColor: ink, labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500 };
    return {
      background: "transparent",
      font: css("--font"),
      view: { stroke: line },
      axis: { ...text, gridColor: line, domainColor: css("--line-strong"), tickColor: css("--line-strong") },
      legend: text,
      header: text,
      title: { color: ink, fontSize: 13, fontWeight: 600 },
      text: { color: ink },
      rule: { color: soft },
    };
  };
  const merge = (under, over) => {
    const result = { ...under };
    for (const [key, value] of Object.entries(over || {})) {
      const both = value && result[key] && typeof value === "object" && !Array.isArray(value);
      result[key] = both ? merge(result[key], value) : value;
    }
    return result;
  };
  const actions = { export: { svg: true, png: true }, source: false, compiled: false, editor: false };
  const views = new Map();
  const fetched = new Map();
  const specOf = async (element) => {
    if (element.dataset.vegaSpec) return document.querySelector(element.dataset.vegaSpec)?.textContent;
    if (!fetched.has(element)) {
      const reply = await fetch(element.dataset.vegaUrl, { headers: { Accept: "application/json" } });
      if (!reply.ok) {
        element.textContent = (await reply.json().catch(() => ({}))).detail || "This chart could not be loaded.";
        return null;
      }
      fetched.set(element, await reply.text());
    }
    return fetched.get(element);
  };
  const draw = async (element) => {
    const source = await specOf(element);
    if (!source) return;
    const spec = JSON.parse(source);
    const themed = { ...spec, config: merge(spec.config || {}, config()) };
    const label = element.getAttribute("aria-label") || spec.description || spec.title?.text || spec.title || "Chart";
    views.get(element)?.finalize();
    const options = { ast: true, renderer: "svg", defaultStyle: false, tooltip: { disableDefaultStyle: true }, actions: element.hasAttribute("data-actions") ? actions : false };
    try {
      views.set(element, await vegaEmbed(element, themed, options));
      const svg = element.querySelector("svg");
      svg?.setAttribute("role", "img");
      svg?.setAttribute("aria-label", label);
    } catch (error) {
      element.textContent = "This chart could not be drawn; the table holds its numbers.";
      console.error(error);
    }
  };
  const sight = new IntersectionObserver((seen) => {
    for (const { target } of seen.filter((one) => one.isIntersecting)) {
      sight.unobserve(target);
      draw(target);
    }
  }, { rootMargin: "200px" });
  const drawAll = (root) => {
    for (const [element, view] of views) {
      if (!element.isConnected) {
        view.finalize();
        views.delete(element);
      }
    }
    root.querySelectorAll("[data-vega-spec]").forEach(draw);
    root.querySelectorAll("[data-vega-url]").forEach((element) => (fetched.has(element) ? draw(element) : sight.observe(element)));
  };
  drawAll(document);
  document.addEventListener("themechange", () => drawAll(document));
  document.addEventListener("htmx:load", (event) => event.detail.elt !== document.body && drawAll(event.detail.elt.parentElement || event.detail.elt));
})();
