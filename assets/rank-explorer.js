"use strict";
// Spectra by depth to play with: singular values of one network each, relative to the largest, and
// the ranks that a threshold makes of them. The data hold -100 times their decimal logarithms.
(() => {
  const { LEFT, RIGHT, TOP, BOTTOM, scale, line, dot, power, raised, frame, restore, remember } = window.signalbookPlay;
  const root = document.getElementById("rank-explorer");
  const { layers, spectra } = JSON.parse(document.getElementById("rank-explorer-data").textContent);
  const form = root.querySelector("form"), fields = form.elements;
  const LEAST = -13; // decimal logarithm: below, doubles hold rounding
  const WITH = "with batch normalization", WITHOUT = "without normalization";

  /** The decimal logarithms of a network by layer, for the width and strength chosen. */
  const logs = (name) => spectra[[name, fields.strength.value, fields.width.value].join("|")]
    .map((values) => values.map((v) => -v / 100));
  const threshold = () => Number(fields.threshold.value);
  const rank = (values) => values.filter((v) => v > threshold()).length;

  /** (Sum of squares)² over the sum of fourth powers: the participation ratio, which needs no threshold. */
  function ratio(values) {
    const squares = values.map((v) => 100 ** v), sum = (list) => list.reduce((a, b) => a + b, 0);
    return sum(squares) ** 2 / sum(squares.map((s) => s * s));
  }

  function drawSpectra(at, both) {
    const width = both[0][0].length;
    const x = scale(0.5, width + 0.5, LEFT, RIGHT), y = scale(LEAST, 0.3, BOTTOM, TOP);
    const places = [1, width / 4, width / 2, 3 * width / 4, width].map((v) => [v, v]);
    const level = y(threshold());
    const seen = both.map((spectrum, i) => {
      const points = spectrum[at].map((v, k) => [x(k + 1), y(Math.max(LEAST, v))]), name = i ? "play-second" : "play-first";
      return line(points, `${name} play-thin`) + points.map((p) => dot(p, name, 2.4)).join("");
    });
    return frame(x, y, places, [0, -3, -6, -9, -12].map((k) => [k, power(k)]), "place in order of size", "singular value / largest")
      + line([[LEFT, level], [RIGHT, level]], "play-theory") + seen.join("");
  }

  function drawRanks(at, both) {
    const width = both[0][0].length, last = layers.at(-1);
    const x = (l) => scale(0, Math.log10(1 + last), LEFT, RIGHT)(Math.log10(1 + l)), y = scale(0, width, BOTTOM, TOP);
    const ticks = [0, 1, 10, 100, 1000].filter((l) => l <= last).map((l) => [l, l]);
    const counts = [0, width / 4, width / 2, 3 * width / 4, width].map((v) => [v, v]);
    const curves = both.map((spectrum, i) =>
      line(spectrum.map((values, l) => [x(layers[l]), y(rank(values))]), i ? "play-second" : "play-first"));
    const thin = both.map((spectrum, i) =>
      line(spectrum.map((values, l) => [x(layers[l]), y(ratio(values))]), `${i ? "play-second" : "play-first"} play-thin`));
    return frame(x, y, ticks, counts, "layer", "rank") + line([[x(layers[at]), TOP], [x(layers[at]), BOTTOM]], "play-now")
      + curves.join("") + thin.join("")
      + both.map((spectrum, i) => dot([x(layers[at]), y(rank(spectrum[at]))], i ? "play-second" : "play-first", 5)).join("");
  }

  /** What the pictures show, in words. */
  function tell(at, both) {
    const [ours, plain] = both.map((spectrum) => spectrum[at]), width = ours.length;
    const told = (values) => `${rank(values)} of ${width} singular values are above the threshold, and the participation ratio is ${ratio(values).toFixed(1)}`;
    return `Layer ${layers[at]}. With batch normalization ${told(ours)}. Without it ${told(plain)}.`;
  }

  function show() {
    const at = Number(fields.depth.value), both = [WITH, WITHOUT].map(logs), [left, right] = root.querySelectorAll("svg");
    root.querySelector("[data-shows=depth]").textContent = layers[at];
    root.querySelector("[data-shows=threshold]").textContent = raised(threshold());
    left.innerHTML = drawSpectra(at, both);
    right.innerHTML = drawRanks(at, both);
    root.querySelector("output").textContent = tell(at, both);
  }

  fields.depth.max = layers.length - 1;
  form.addEventListener("input", () => { show(); remember(form); });
  form.addEventListener("submit", (event) => event.preventDefault());
  restore(form);
  root.hidden = false; // without scripts it would show nothing
  show();
})();
