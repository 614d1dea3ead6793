"use strict";
// What the figures to play with share: the frame of a drawing, and a state that the address keeps.
window.signalbookPlay = (() => {
  // Pictures are 320 units wide and high, with axes within these.
  const LEFT = 54, RIGHT = 310, TOP = 10, BOTTOM = 276;
  const PAUSE = 200; // ms: browsers refuse addresses that change with every step of a slider

  const scale = (low, high, from, to) => (v) => from + (v - low) / (high - low) * (to - from);
  const line = (points, name) =>
    `<polyline class="${name}" points="${points.map((p) => p.map((c) => c.toFixed(2)).join(",")).join(" ")}"/>`;
  const dot = ([x, y], name, r = 3) => `<circle class="${name}" cx="${x.toFixed(2)}" cy="${y.toFixed(2)}" r="${r}"/>`;
  const text = (x, y, words, anchor = "middle") => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`;
  /** Ten to a whole power, as a label. */
  const power = (k) => k === 0 ? "1" : k === 1 ? "10" : `10<tspan dy="-4" font-size="9">${k < 0 ? "−" : ""}${Math.abs(k)}</tspan>`;

  /** The same in words, where there is no markup. */
  const raised = (k) => `10${[...String(k)].map((c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "·").join("")}`;

  /** Axes with ticks, given as pairs of value and label, and their two names. */
  function frame(x, y, xTicks, yTicks, xName, yName) {
    const grid = xTicks.map(([v]) => line([[x(v), TOP], [x(v), BOTTOM]], "play-grid"))
      .concat(yTicks.map(([v]) => line([[LEFT, y(v)], [RIGHT, y(v)]], "play-grid")));
    const labels = xTicks.map(([v, label]) => text(x(v), BOTTOM + 16, label))
      .concat(yTicks.map(([v, label]) => text(LEFT - 5, y(v) + 4, label, "end")));
    return grid.join("") + labels.join("") + text((LEFT + RIGHT) / 2, BOTTOM + 34, xName)
      + `<text transform="translate(11 ${(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${yName}</text>`;
  }

  /** Fill a form from the address; return the numbers it gave. What a field cannot take is left out. */
  function restore(form) {
    const numbers = {};
    for (const [name, value] of new URLSearchParams(location.search)) {
      const field = form.elements.namedItem(name);
      if (field instanceof HTMLSelectElement) {
        if ([...field.options].some((option) => option.value === value)) field.value = value;
      } else if (field instanceof HTMLInputElement && field.type === "range") {
        const number = Number(value);
        if (!value.trim() || !Number.isFinite(number)) continue;
        numbers[name] = Math.min(Number(field.max), Math.max(Number(field.min), number));
        field.value = numbers[name];
      } else if (field instanceof HTMLInputElement) field.value = value;
    }
    return numbers;
  }

  /** Keep the state of a form in the address, with numbers that are finer than their sliders. */
  let waiting;
  function remember(form, finer = {}) {
    const state = new URLSearchParams([...new FormData(form)]);
    for (const [name, value] of Object.entries(finer)) state.set(name, value);
    clearTimeout(waiting);
    waiting = setTimeout(() => history.replaceState(null, "", `?${state}${location.hash}`), PAUSE);
  }

  return { LEFT, RIGHT, TOP, BOTTOM, scale, line, dot, text, power, raised, frame, restore, remember };
})();
