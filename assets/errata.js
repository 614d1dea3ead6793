"use strict";
// The list of errata answers to words and choices; the choice lives in the address, to be shared.
(() => {
  const form = document.querySelector(".sb-filters");
  const items = [...document.querySelectorAll(".sb-errata li")];
  const texts = new Map(items.map((item) => [item, item.textContent.toLowerCase()])); // before maths is set
  const show = () => {
    const { words, ...chosen } = Object.fromEntries(new FormData(form));
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) {
      item.hidden = !(Object.entries(chosen).every(([name, value]) => !value || item.dataset[name] === value)
        && wanted.every((word) => texts.get(item).includes(word)));
    }
    for (const group of document.querySelectorAll("section:has(> ul.sb-errata)")) group.hidden = !group.querySelector("li:not([hidden])");
    document.getElementById("sb-count").textContent = `${items.filter((item) => !item.hidden).length} of ${items.length} shown`;
  };
  for (const [name, value] of new URLSearchParams(location.search)) if (form.elements[name]) form.elements[name].value = value;
  form.hidden = false; // without scripts it would do nothing, and all errata are there
  form.addEventListener("input", () => {
    show();
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", (chosen.size ? `?${chosen}` : location.pathname) + location.hash);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
