"use strict";
// The tree model to play with: recentring and ReLU with weights [I; -I], followed exactly.
// A neuron is a list of runs [size, value] of neighbouring points, smallest first; values are whole
// numbers in units of 1/n per layer. Neurons of two clusters are kept as counts and energies for
// each place of the split and each side, as in signalprop.clusters, which tells why this is enough.
(() => {
  const { RIGHT, TOP, BOTTOM, scale, line, dot, text, restore, remember } = window.signalbookPlay;
  const root = document.getElementById("cluster-tree");
  const form = root.querySelector("form");
  const DEEPEST = 60, FEWEST = 3, MOST = 12, LARGEST = 9999;
  let layers = []; // of the batch at hand, from layer 1 on: { norms, angles, clusters }

  /** The whole numbers of a text, or what is wrong with it. */
  function read(words) {
    const numbers = words.split(/[\s,;]+/).filter(Boolean).map((w) => Number(w.replace("−", "-")));
    if (!numbers.every((v) => Number.isInteger(v) && Math.abs(v) <= LARGEST))
      return `Please give whole numbers from −${LARGEST} to ${LARGEST}, with commas between them.`;
    if (numbers.length < FEWEST || numbers.length > MOST)
      return `Please give ${FEWEST} to ${MOST} numbers, one for each point; these are ${numbers.length}.`;
    if (new Set(numbers).size < 2) return "Please give at least two different numbers: equal points have no distance from their mean.";
    return numbers;
  }

  /** Neighbours of one value become one run. */
  function merge(runs) {
    const merged = [];
    for (const [size, value] of runs) {
      const last = merged.at(-1);
      if (last && last[1] === value) last[0] += size; else merged.push([size, value]);
    }
    return merged;
  }

  function children(row, n) {
    const total = row.reduce((sum, [size, value]) => sum + BigInt(size) * value, 0n);
    const centred = row.map(([size, value]) => [size, BigInt(n) * value - total]);
    return [1n, -1n].map((sign) => merge(centred.map(([size, v]) => [size, sign * v > 0n ? sign * v : 0n])));
  }

  function beginning(numbers) {
    const order = numbers.map((_, i) => i).sort((a, b) => numbers[a] - numbers[b]);
    const row = merge(order.map((i) => [1, BigInt(numbers[i])]));
    return { n: numbers.length, order, rows: [[row, 1n]], energy: numbers.slice(1).map(() => [0n, 0n]) };
  }

  function next({ n, order, rows, energy }) {
    const below = energy.map(([up, down], i) => {
      const lower = BigInt(i + 1), upper = BigInt(n) - lower, both = up + down;
      return [both * lower * lower, both * upper * upper];
    });
    const found = new Map();
    for (const [row, count] of rows) {
      for (const child of children(row, n)) {
        if (child.length === 2) {
          const [[size, low], [, high]] = child, height = low > high ? low : high;
          below[size - 1][low > high ? 1 : 0] += count * height * height;
          continue;
        }
        const key = child.join(";");
        found.set(key, [child, (found.get(key)?.[1] ?? 0n) + count]);
      }
    }
    return { n, order, rows: [...found.values()], energy: below };
  }

  /** Inner products of the points, in whole units. */
  function gram({ n, order, rows, energy }) {
    const sorted = Array.from({ length: n }, () => Array(n).fill(0n));
    const add = (from, to, value) => {
      for (let i = from; i < to; i++) for (let j = from; j < to; j++) sorted[i][j] += value;
    };
    energy.forEach(([up, down], i) => { add(i + 1, n, up); add(0, i + 1, down); });
    for (const [row, count] of rows) {
      const values = row.flatMap(([size, value]) => Array(size).fill(value));
      values.forEach((a, i) => values.forEach((b, j) => { sorted[i][j] += count * a * b; }));
    }
    const found = sorted.map((line) => line.slice());
    order.forEach((p, i) => order.forEach((q, j) => { found[p][q] = sorted[i][j]; }));
    return found;
  }

  /** a / b of whole numbers, right to rounding. */
  function ratio(a, b) {
    if (!a) return 0;
    const length = (v) => (v < 0n ? -v : v).toString(2).length;
    const shift = Math.max(0, length(b) - length(a) + 64);
    return Number((a << BigInt(shift)) / b) * 2 ** -shift;
  }

  /** Lengths relative to the longest, and angles in degrees (a right one with a zero vector). */
  function seen(tree) {
    const g = gram(tree), largest = g.reduce((m, line, i) => (line[i] > m ? line[i] : m), 0n);
    const norms = g.map((line, i) => Math.sqrt(ratio(line[i], largest)));
    const angles = g.map((line, i) => line.map((v, j) => {
      const whole = g[i][i] * g[j][j];
      if (!whole) return 90;
      const sine = Math.sqrt(ratio(whole - v * v, whole)), cosine = Math.sqrt(ratio(v * v, whole));
      return Math.atan2(sine, v < 0n ? -cosine : cosine) * 180 / Math.PI;
    }));
    const clusters = tree.rows.reduce((most, [row]) => Math.max(most, row.length), 2);
    return { norms, angles, clusters };
  }

  function grow(numbers) {
    let tree = beginning(numbers);
    layers = [];
    while (layers.length < DEEPEST) layers.push(seen(tree = next(tree)));
  }

  const LEFT = 40; // labels of degrees are short
  const longest = ({ norms }) => norms.indexOf(Math.max(...norms));

  /** Every point as a ray: its length, and its angle to the longest. */
  function drawRays({ norms, angles }) {
    const first = longest({ norms }), reach = 230, x0 = 50, y0 = 262;
    const at = (length, degrees) => {
      const turn = degrees * Math.PI / 180;
      return [x0 + length * reach * Math.cos(turn), y0 - length * reach * Math.sin(turn)];
    };
    const arc = (length) => line(Array.from({ length: 46 }, (_, i) => at(length, 2 * i)), "play-grid");
    const rays = norms.map((length, i) => {
      const end = at(length, angles[first][i]);
      const [x, y] = at(length + 0.045, angles[first][i]);
      return line([[x0, y0], end], i === first ? "play-second play-thin" : "play-first play-thin")
        + dot(end, i === first ? "play-second" : "play-first")
        + text(x, y + 4, i + 1);
    });
    return arc(0.5) + arc(1) + line([at(0, 0), at(1.05, 0)], "play-grid") + line([at(0, 0), at(1.05, 90)], "play-grid")
      + text(x0 + reach / 2, y0 + 34, "length, relative to the longest") + rays.join("");
  }

  /** The angle of every point to the longest one of the last layer shown, by layer. */
  function drawAngles(layer) {
    const first = longest(layers.at(-1));
    const x = scale(1, DEEPEST, LEFT, RIGHT), y = scale(0, 90, BOTTOM, TOP);
    const grid = [1, 20, 40, 60].map((v) => line([[x(v), TOP], [x(v), BOTTOM]], "play-grid") + text(x(v), BOTTOM + 16, v))
      .concat([0, 30, 60, 90].map((v) => line([[LEFT, y(v)], [RIGHT, y(v)]], "play-grid") + text(LEFT - 5, y(v) + 4, `${v}°`, "end")));
    const curves = layers[0].norms.map((_, i) => i === first ? ""
      : line(layers.map(({ angles }, l) => [x(l + 1), y(angles[first][i])]), "play-first play-thin"));
    return grid.join("") + text((LEFT + RIGHT) / 2, BOTTOM + 34, `layer; angles to point ${first + 1}`)
      + curves.join("") + line([[x(layer), TOP], [x(layer), BOTTOM]], "play-now");
  }

  /** What the pictures show, in words. */
  function tell(layer) {
    const { norms, angles, clusters } = layers[layer - 1], first = longest({ norms });
    const others = norms.map((_, i) => i).filter((i) => i !== first);
    const lengths = others.map((i) => norms[i]).sort((a, b) => a - b);
    const half = Math.floor(lengths.length / 2);
    const median = lengths.length % 2 ? lengths[half] : (lengths[half - 1] + lengths[half]) / 2;
    const away = others.map((i) => angles[first][i]), number = (v) => v.toFixed(1);
    const within = Math.max(...others.flatMap((i) => others.map((j) => (i === j ? 0 : angles[i][j]))));
    return `Layer ${layer}: ${(2n ** BigInt(layer)).toLocaleString("en")} neurons, each with at most ${clusters} different values. `
      + `The longest is point ${first + 1}, ${median ? number(1 / median) : "∞"} times the median of the others, at ${number(Math.min(...away))}° to ${number(Math.max(...away))}° from them. `
      + `The others are within ${number(within)}° of each other.`;
  }

  /** Follow the batch of the field; return whether it is one. */
  function show() {
    const numbers = read(form.elements.values.value), wrong = typeof numbers === "string";
    root.querySelector("[data-shows=wrong]").textContent = wrong ? numbers : "";
    form.elements.values.setAttribute("aria-invalid", wrong);
    if (wrong) return false;
    grow(numbers);
    move();
    return true;
  }

  function move() {
    const layer = Number(form.elements.layer.value), [left, right] = root.querySelectorAll("svg");
    root.querySelector("[data-shows=layer]").textContent = layer;
    left.innerHTML = drawRays(layers[layer - 1]);
    right.innerHTML = drawAngles(layer);
    root.querySelector("output").textContent = tell(layer);
  }

  const to = (layer) => { form.elements.layer.value = layer; move(); };
  const actions = {
    batch: ({ value }) => { form.elements.values.value = value; show(); },
    values: show,
    layer: move,
    back: () => to(Number(form.elements.layer.value) - 1),
    step: () => to(Number(form.elements.layer.value) + 1),
  };
  const act = ({ target }) => { actions[target.name]?.(target); remember(form); };
  form.addEventListener("input", act);
  form.addEventListener("click", (event) => { if (event.target.type === "button") act(event); });
  form.addEventListener("submit", (event) => event.preventDefault());
  root.hidden = false; // without scripts it would show nothing
  form.elements.values.value = form.elements.batch.value;
  restore(form);
  if (!show()) actions.batch(form.elements.batch); // an address with no batch
})();
