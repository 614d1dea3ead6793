"use strict";
// The ledger answers: words, filters and sorting; the choice lives in the address, to be shared.
(() => {
  const TO_COME = "still to come"; // such rows show only if asked for, or linked to
  const form = document.querySelector(".sb-filters");
  const body = document.querySelector("#sb-ledger tbody");
  const rows = [...body.rows];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()])); // before maths is set
  const count = document.getElementById("sb-count");
  const verdicts = [...form.elements.verdict.options].map((option) => option.value);

  /** The row that the address points to. */
  const target = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));

  /** Show the rows that match; the one linked to as well, unless a choice was just made. */
  const show = (linked) => {
    const { words, ...chosen } = Object.fromEntries(new FormData(form));
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const fits = Object.entries(chosen).every(([name, value]) =>
        value ? row.dataset[name] === value : name !== "verdict" || row.dataset.verdict !== TO_COME);
      row.hidden = row !== linked && !(fits && wanted.every((word) => texts.get(row).includes(word)));
    }
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
  };

  const remember = () => {
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    const query = chosen.size ? `?${chosen}` : location.pathname;
    history.replaceState(null, "", query + location.hash);
  };

  /** What a row is sorted by: the documents' own order, the verdicts' order, or the text. */
  const key = (row, column) =>
    column === 0 ? rows.indexOf(row) : column === 1 ? verdicts.indexOf(row.dataset.verdict) : row.cells[column].textContent.trim();

  const sort = (head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = rows.map((row) => [key(row, head.cellIndex), row]);
    keyed.sort(([a], [b]) => (typeof a === "number" ? a - b : (a === "") - (b === "") || a.localeCompare(b, "en", { numeric: true })));
    body.append(...(down ? keyed.reverse() : keyed).map(([, row]) => row));
  };

  for (const head of document.querySelectorAll("#sb-ledger thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head));
    head.replaceChildren(button);
  }

  // An ID leads to its own row: following it puts the address, without filters, on the clipboard.
  body.addEventListener("click", (event) => {
    const id = event.target.closest("th a");
    if (!id || !navigator.clipboard) return;
    const address = location.href.replace(/[?#].*/, "") + id.hash;
    navigator.clipboard.writeText(address).then(() => (document.getElementById("sb-copied").textContent = `Address of ${id.textContent} copied`), () => {});
  });

  for (const [name, value] of new URLSearchParams(location.search)) if (form.elements[name]) form.elements[name].value = value;
  form.hidden = false; // without scripts it would do nothing, and all rows are there
  form.addEventListener("input", () => { show(null); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => { show(target()); target()?.scrollIntoView(); });
  show(target());
  // Formulas change the heights of rows: once they are set, go to the target again.
  addEventListener("load", () => Promise.resolve(window.MathJax?.startup?.promise).then(() => target()?.scrollIntoView()));
})();
