"use strict";
// The gap against depth and width to play with: means over runs that the page computed, with the
// stationary value in closed form. Layer 0 is the input.
(() => {
  const { LEFT, RIGHT, TOP, BOTTOM, scale, line, dot, power, raised, frame, restore, remember } = window.signalbookPlay;
  const root = document.getElementById("gap-explorer");
  const { widths, theory, gaps } = JSON.parse(document.getElementById("gap-explorer-data").textContent);
  const form = root.querySelector("form"), fields = form.elements;
  const LEAST = -4, LINEAR = "without normalization"; // of the decimal logarithm shown

  const chosen = (name) => fields[name].value;
  const width = () => widths[Number(chosen("width"))];
  /** The means by layer at a width, for what else is chosen. */
  const path = (d) => gaps[[chosen("samples"), chosen("start"), chosen("normalization"), d].join("|")][chosen("measure")];
  const closed = () => chosen("normalization") === LINEAR ? null : theory[chosen("samples")][chosen("measure")];

  /** The decimal logarithms shown, for all widths, so that the axes stay as they are. */
  function limits() {
    const all = widths.flatMap(path).filter((v) => v > 10 ** LEAST).map(Math.log10);
    return [Math.max(LEAST, Math.floor(Math.min(0, ...all) - 0.01)), Math.ceil(Math.max(0, ...all))];
  }

  const powersOf = ([low, high]) => Array.from({ length: high - low + 1 }, (_, i) => [low + i, power(low + i)]);

  function drawDepth(layer, shown) {
    const depth = path(width()).length - 1;
    const x = scale(0, depth, LEFT, RIGHT), y = scale(...shown, BOTTOM, TOP);
    const points = (values) => values.map((v, l) => [x(l), y(Math.log10(v))]).filter(([, v]) => v <= BOTTOM);
    const floor = closed()?.[Number(chosen("width"))];
    const now = path(width())[layer];
    return frame(x, y, [0, 10, 20, 30, 40, 50].filter((l) => l <= depth).map((l) => [l, l]), powersOf(shown), "layer", chosen("measure"))
      + widths.map((d) => line(points(path(d)), "play-other")).join("")
      + line([[x(layer), TOP], [x(layer), BOTTOM]], "play-now")
      + (floor ? line([[LEFT, y(Math.log10(floor))], [RIGHT, y(Math.log10(floor))]], "play-theory") : "")
      + line(points(path(width())), "play-first")
      + points([now]).map(([, v]) => dot([x(layer), v], "play-second", 5)).join("");
  }

  function drawWidth(layer, shown) {
    const ends = [Math.log2(widths[0]), Math.log2(widths.at(-1))];
    const x = scale(ends[0] - 0.2, ends[1] + 0.2, LEFT, RIGHT), y = scale(...shown, BOTTOM, TOP);
    const points = (values) => values.map((v, i) => [x(Math.log2(widths[i])), y(Math.log10(v))]);
    const seen = points(widths.map((d) => path(d)[layer]));
    const inside = seen.filter(([, v]) => v <= BOTTOM), [here] = [seen[Number(chosen("width"))]];
    return frame(x, y, widths.map((d) => [Math.log2(d), d]), powersOf(shown), `width, at layer ${layer}`, chosen("measure"))
      + (closed() ? line(points(closed()), "play-theory") : "")
      + line(inside, "play-first") + inside.map((p) => dot(p, "play-first")).join("")
      + (here[1] <= BOTTOM ? dot(here, "play-second", 5) : "");
  }

  /** Three digits, as a page writes a number. */
  function number(v) {
    if (v === 0 || v >= 1e-3) return String(Number(v.toPrecision(3)));
    const size = Math.floor(Math.log10(v));
    return `${(v / 10 ** size).toFixed(2)}·${raised(size)}`;
  }

  /** What the pictures show, in words. */
  function tell(layer) {
    const now = widths.map((d) => path(d)[layer]), own = path(width()), floor = closed()?.[Number(chosen("width"))];
    const slope = Math.log2(now.at(-1) / now[0]) / Math.log2(widths.at(-1) / widths[0]);
    return `${chosen("samples")} samples, width ${width()}: the mean ${chosen("measure")} is ${number(own[0])} at the input and ${number(own[layer])} after ${layer} layers. `
      + (floor ? `Deep down the closed form has ${number(floor)}. ` : "No closed form: without normalization there is no floor. ")
      + (now[0] > 1e-12 ? `Between the narrowest and the widest network it changes, at this layer, like the width to the power ${slope.toFixed(2).replace("-", "−")}.` : "");
  }

  function show() {
    const layer = Number(chosen("layer")), shown = limits(), [left, right] = root.querySelectorAll("svg");
    root.querySelector("[data-shows=width]").textContent = width();
    root.querySelector("[data-shows=layer]").textContent = layer;
    left.innerHTML = drawDepth(layer, shown);
    right.innerHTML = drawWidth(layer, shown);
    root.querySelector("output").textContent = tell(layer);
  }

  fields.width.max = widths.length - 1;
  form.addEventListener("input", () => { show(); remember(form); });
  form.addEventListener("submit", (event) => event.preventDefault());
  restore(form);
  root.hidden = false; // without scripts it would show nothing
  show();
})();
