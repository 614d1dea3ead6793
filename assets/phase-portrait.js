"use strict";
// A kernel map to play with: its graph, the iteration, the fixed point and the rate.
// The page holds, for each standardized activation, the complement of its map over a power of the
// gap, (1 - kappa(1 - gap)) / gap^power, at equal steps of the angle, where it is smooth; a mean m
// in units of the standard deviation divides the complement by 1 + m^2.
(() => {
  const { LEFT, RIGHT, TOP, BOTTOM, scale, line, dot, power, frame, restore, remember } = window.signalbookPlay;
  const root = document.getElementById("phase-portrait");
  const data = JSON.parse(document.getElementById("phase-portrait-maps").textContent);
  const form = root.querySelector("form");
  const DEPTH = 60, FLOOR = 1e-12, CRITICAL = 1e-9;
  let mean = 0, start = -0.8;

  /** The map of the chosen activation, gain and mean, as a function of the gap 1 - rho. */
  function chosenMap() {
    const { slope, power, values } = data[form.elements.activation.value][form.elements.gain.value];
    const shrink = 1 / (1 + mean * mean), steps = values.length - 1;
    const complement = (gap) => {
      const at = (2 * Math.asin(Math.sqrt(Math.min(gap, 2) / 2)) / Math.PI) * steps;
      return shrink * interpolate(values, at) * gap ** power;
    };
    return { complement, atZero: 1 - shrink, slopeAtOne: slope === null ? Infinity : slope * shrink };
  }

  /** The cubic through the four values around a position. */
  function interpolate(values, at) {
    const first = Math.max(0, Math.min(values.length - 4, Math.floor(at) - 1)), t = at - first;
    const [a, b, c, d] = values.slice(first, first + 4);
    return a * (1 - t) * (2 - t) * (3 - t) / 6 + b * t * (2 - t) * (3 - t) / 2
      - c * t * (1 - t) * (3 - t) / 2 + d * t * (1 - t) * (2 - t) / 6;
  }

  /** The case of the theorem, the gap of the fixed point and the slope there. */
  function analyse({ complement, atZero, slopeAtOne }) {
    const number = atZero <= CRITICAL ? 1 : Math.abs(slopeAtOne - 1) <= CRITICAL ? 3 : slopeAtOne < 1 ? 2 : 4;
    let gap = number === 1 ? 1 : 0;
    if (number === 4) {
      let [low, high] = [1e-14, 1];
      for (let i = 0; i < 100; i++) {
        const middle = Math.sqrt(low * high);
        if (complement(middle) > middle) low = middle; else high = middle;
      }
      gap = low;
    }
    const h = Math.min(1e-3, gap / 2);
    const slope = gap ? (complement(gap + h) - complement(gap - h)) / (2 * h) : slopeAtOne;
    return { number, gap, slope };
  }

  /** The gaps of the iteration from the start. */
  function iterate(complement) {
    const gaps = [1 - start];
    while (gaps.length <= DEPTH) gaps.push(Math.min(2, Math.max(0, complement(gaps.at(-1)))));
    return gaps;
  }

  /** A bound of the distance at each layer that holds in the case at hand. */
  function bound({ number, gap, slope }, atZero, slopeAtZero) {
    const first = Math.abs(1 - start - gap);
    const stretch = Math.max(1, gap / (1 - Math.abs(start)));
    return (layer) => number === 2 ? first * slope ** layer
      : number === 3 ? first / (layer * (1 - atZero - slopeAtZero) * first + 1)
      : first * stretch / (2 - slope) ** layer;
  }

  function drawMap(complement, gaps, gap) {
    const x = scale(-1, 1, LEFT, RIGHT), y = scale(-1, 1, BOTTOM, TOP);
    const ticks = [-1, -0.5, 0, 0.5, 1].map((v) => [v, String(v).replace("-", "−")]);
    const at = (g) => [x(1 - g), y(1 - complement(g))];
    const curve = Array.from({ length: 161 }, (_, i) => at(1 - Math.cos(i * Math.PI / 160)));
    const stairs = gaps.slice(1).flatMap((g, i) => [[x(1 - gaps[i]), y(1 - g)], [x(1 - g), y(1 - g)]]);
    return frame(x, y, ticks, ticks, "correlation before the layer", "after")
      + line([[LEFT, BOTTOM], [RIGHT, TOP]], "play-diagonal") + line(curve, "play-first")
      + line([[x(1 - gaps[0]), y(1 - gaps[0])], ...stairs], "play-second play-thin")
      + dot([x(start), y(start)], "play-ring", 5) + dot([x(1 - gap), y(1 - gap)], "play-star", 5);
  }

  function drawDistance(gaps, gap, limit) {
    const x = scale(0, DEPTH, LEFT, RIGHT), log = scale(Math.log10(FLOOR), 1, BOTTOM, TOP);
    const y = (v) => log(Math.log10(v));
    const shown = (v) => v > FLOOR && v < 10;
    const points = (values) => values.map((v, l) => [v, l]).filter(([v]) => shown(v)).map(([v, l]) => [x(l), y(v)]);
    const powers = [0, -3, -6, -9, -12].map((k) => [10 ** k, power(k)]);
    return frame(x, y, [0, 20, 40, 60].map((l) => [l, l]), powers, "layer", "distance")
      + line(points(gaps.map((_, l) => limit(l))), "play-second")
      + line(points(gaps.map((g) => Math.abs(g - gap))), "play-first");
  }

  /** What the pictures show, in words. */
  function tell({ number, gap, slope }, { atZero, slopeAtOne }) {
    const digits = (v) => Number.isFinite(v) ? v.toFixed(4) : "∞";
    const angle = (Math.acos(1 - gap) * 180 / Math.PI).toFixed(1);
    const speed = number === 3 ? "The distance falls only as a power of the depth."
      : `Near the end a layer multiplies the distance by κ′(ρ*) = ${digits(slope)}.`;
    return `Case ${number}: κ(0) = ${digits(atZero)}, κ′(1) = ${digits(slopeAtOne)}. `
      + `All pairs of inputs end at an angle of ${angle}°, ρ* = ${digits(1 - gap)}. ${speed}`;
  }

  function show() {
    const map = chosenMap(), found = analyse(map), gaps = iterate(map.complement);
    const slopeAtZero = (map.complement(1.001) - map.complement(0.999)) / 0.002;
    const words = tell(found, map);
    form.elements.mean.value = mean;
    form.elements.start.value = start;
    root.querySelector("[data-shows=mean]").textContent = mean.toFixed(2);
    root.querySelector("[data-shows=start]").textContent = start.toFixed(2).replace("-", "−");
    form.elements.critical.disabled = !Number.isFinite(map.slopeAtOne);
    const [left, right] = root.querySelectorAll("svg");
    left.innerHTML = drawMap(map.complement, gaps, found.gap);
    right.innerHTML = drawDistance(gaps, found.gap, bound(found, map.atZero, slopeAtZero));
    root.querySelector("output").textContent = words;
  }

  const own = () => data[form.elements.activation.value][form.elements.gain.value];
  const actions = {
    activation: () => { mean = own().mean; },
    gain: () => { mean = own().mean; },
    mean: (input) => { mean = Number(input.value); },
    start: (input) => { start = Number(input.value); },
    own: () => { mean = own().mean; },
    critical: () => { mean = Math.sqrt(Math.max(0, own().slope - 1)); },
  };
  const act = ({ target }) => { actions[target.name]?.(target); show(); remember(form, { mean }); };
  form.addEventListener("input", act);
  form.addEventListener("click", (event) => { if (event.target.type === "button") act(event); });
  form.addEventListener("submit", (event) => event.preventDefault());
  // A touch on the map chooses the start, too; the slider is for everyone.
  root.querySelector("svg").addEventListener("pointerdown", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * 320;
    start = Math.max(-0.99, Math.min(0.99, Math.round(scale(LEFT, RIGHT, -1, 1)(x) * 100) / 100));
    show();
    remember(form, { mean });
  });
  for (const name of Object.keys(data)) form.elements.activation.add(new Option(name));
  form.elements.activation.value = "GELU";
  const given = restore(form);
  actions.activation();
  mean = given.mean ?? mean;
  start = given.start ?? start;
  root.hidden = false; // without scripts it would show nothing
  show();
})();
