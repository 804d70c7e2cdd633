// Charts: <div class="chart" data-vega-spec="#spec-id" aria-label="..."></div> beside {{ spec|json_script:"spec-id" }}.
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
  const draw = async (element) => {
    const source = document.querySelector(element.dataset.vegaSpec);
    if (!source) return;
    const spec = JSON.parse(source.textContent);
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
  const drawAll = (root) => {
    for (const [element, view] of views) {
      if (!element.isConnected) {
        view.finalize();
        views.delete(element);
      }
    }
    root.querySelectorAll("[data-vega-spec]").forEach(draw);
  };
  drawAll(document);
  document.addEventListener("themechange", () => drawAll(document));
  document.addEventListener("htmx:load", (event) => event.detail.elt !== document.body && drawAll(event.detail.elt.parentElement || event.detail.elt));
})();
