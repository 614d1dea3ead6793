"use strict";
// The map of statements: a node lights up what it needs and what uses it. Arrows go along the lines.
(() => {
  const nodes = [...document.querySelectorAll(".sb-map a[data-id]")];
  const lines = [...document.querySelectorAll(".sb-map path[data-need]")];
  const drawing = (node) => node.closest("svg");

  /** The nodes of a drawing that stand for an ID. */
  const node = (svg, id) => svg.querySelector(`a[data-id="${id}"]`);

  const light = (centre) => {
    const svg = drawing(centre), id = centre.dataset.id;
    const mine = lines.filter((line) => drawing(line) === svg && (line.dataset.need === id || line.dataset.user === id));
    svg.classList.add("sb-lit");
    centre.classList.add("sb-on");
    for (const line of mine) {
      line.classList.add("sb-on");
      for (const end of [line.dataset.need, line.dataset.user]) node(svg, end)?.classList.add("sb-on");
    }
  };
  const dark = () => document.querySelectorAll(".sb-map :is(.sb-on, .sb-lit), .sb-map .sb-lit").forEach((e) => e.classList.remove("sb-on", "sb-lit"));

  for (const one of nodes) {
    one.addEventListener("mouseenter", () => { dark(); light(one); });
    one.addEventListener("focus", () => { dark(); light(one); });
    one.addEventListener("mouseleave", dark);
    one.addEventListener("blur", dark);
    one.addEventListener("keydown", (event) => {
      const id = one.dataset.id, here = lines.filter((line) => drawing(line) === drawing(one));
      const left = here.filter((line) => line.dataset.user === id).map((line) => line.dataset.need);
      const right = here.filter((line) => line.dataset.need === id).map((line) => line.dataset.user);
      const all = nodes.filter((other) => drawing(other) === drawing(one));
      const x = (other) => other.getBoundingClientRect().x, y = (other) => other.getBoundingClientRect().y;
      const column = all.filter((other) => Math.abs(x(other) - x(one)) < 30).sort((a, b) => y(a) - y(b));
      const beside = column.indexOf(one);
      const target = {
        ArrowLeft: node(drawing(one), left[0]),
        ArrowRight: node(drawing(one), right[0]),
        ArrowUp: column[beside - 1],
        ArrowDown: column[beside + 1],
      }[event.key];
      if (!target) return;
      event.preventDefault();
      target.focus();
    });
  }

  // An address of a node shows it lit.
  const go = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.matches(".sb-map a[data-id]")) return;
    target.scrollIntoView({ block: "center", inline: "center" });
    target.focus({ preventScroll: true });
  };
  addEventListener("hashchange", go);
  addEventListener("load", () => Promise.resolve(window.MathJax?.startup?.promise).then(go));
})();
