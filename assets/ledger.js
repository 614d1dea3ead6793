"use strict";
// Show the rows that match every chosen filter; the choice lives in the address, to be shared.
(() => {
  const form = document.querySelector(".sb-filters");
  const rows = [...document.querySelectorAll("#sb-ledger tbody tr")];
  const count = document.getElementById("sb-count");
  const show = () => {
    const chosen = [...new FormData(form)].filter(([, value]) => value);
    for (const row of rows) row.hidden = !chosen.every(([name, value]) => row.dataset[name] === value);
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
    history.replaceState(null, "", chosen.length ? `?${new URLSearchParams(chosen)}` : location.pathname + location.hash);
  };
  for (const [name, value] of new URLSearchParams(location.search)) if (form.elements[name]) form.elements[name].value = value;
  form.hidden = false; // without scripts it would do nothing
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
