"use strict";
// Small repairs of the theme's pages, for keyboards, screen readers and sites opened as files.

// Search wants to quote from the pages it finds, but from one file no other may be read.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

document.addEventListener("DOMContentLoaded", () => {
  // The arrows that unfold the table of contents have no name of their own.
  for (const arrow of document.querySelectorAll("nav summary")) {
    const page = arrow.closest("li").querySelector("a").textContent.trim();
    arrow.setAttribute("aria-label", `Pages below ${page}`);
  }
  // This list's entries hold more than a list's entries may: to a screen reader it is a plain text.
  document.querySelector(".citation-list")?.removeAttribute("role");
  for (const arrow of document.querySelectorAll("button.toggle-button")) {
    const title = arrow.closest(".toggle, .admonition")?.querySelector(".admonition-title");
    if (title) arrow.setAttribute("aria-label", `Show or hide: ${title.textContent.trim()}`);
  }
  for (const image of document.querySelectorAll("article figure img")) enlargeable(image);
  for (const table of document.querySelectorAll("article table.table")) nameColumns(table);
  if (typeof Search !== "undefined") quoteWords();
  previews();
  focusable();
});
const HERE = document.currentScript.src;
// Formulas are set, and figures arrive, after that.
addEventListener("load", () => Promise.resolve(window.MathJax?.startup?.promise).then(focusable));
addEventListener("resize", focusable);

/** A figure becomes a button that shows it as large as the window. Escape closes, as does a tap. */
function enlargeable(image) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sb-enlarge";
  button.title = "Enlarge";
  const drawing = image.closest("picture") ?? image;
  drawing.replaceWith(button);
  button.append(drawing);
  button.addEventListener("click", () => {
    const dialog = document.createElement("dialog");
    const close = document.createElement("button");
    close.textContent = "Close";
    dialog.className = "sb-large";
    dialog.setAttribute("aria-label", "Figure, enlarged");
    dialog.append(close, image.cloneNode());
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => { dialog.remove(); button.focus(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** On a phone the row of a table becomes a card, and each cell but the first says its column. */
function nameColumns(table) {
  const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  if (heads.length < 3) return;
  for (const row of table.querySelectorAll("tbody tr")) {
    [...row.cells].forEach((cell, place) => {
      if (!cell.textContent.trim()) cell.classList.add("sb-empty");
      else if (place && heads[place] && !heads[place].includes("\\")) cell.dataset.head = heads[place];
    });
  }
}

/** Search results quote words: formulas and code, unset, would be noise. */
function quoteWords() {
  const plain = Search.htmlToText;
  Search.htmlToText = (text, anchor) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    for (const noise of page.querySelectorAll(".math, pre, .sb-figure-links")) noise.replaceWith(" … ");
    return plain(page.documentElement.outerHTML, anchor);
  };
}

/** Words of a table are broken where it would not fit its box otherwise. */
function fitTables() {
  const boxes = [...document.querySelectorAll("article :is(.sb-table, .pst-scrollable-table-container)")];
  for (const box of boxes) box.classList.remove("sb-tight");
  const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth);
  for (const box of wide) box.classList.add("sb-tight");
}

/** Whatever is wider than its box scrolls in itself, also by keyboard. */
function focusable() {
  fitTables();
  for (const formula of document.querySelectorAll("article span.math")) {
    const set = formula.querySelector("mjx-container"), box = formula.closest("p, li, dd, td, th, div");
    formula.classList.toggle("sb-wide", Boolean(set && box.clientWidth && set.scrollWidth > box.clientWidth));
  }
  for (const box of document.querySelectorAll("article :is(pre, .math, .pst-scrollable-table-container)")) {
    // A formula in a line leans a few pixels out of its box, with nothing to scroll to.
    if (box.scrollWidth > box.clientWidth + (box.matches("span.math:not(.sb-wide, td *)") ? 8 : 0)) box.tabIndex = 0;
  }
}

/** Formulas that are nothing but a symbol of this part of the book, with their TeX, before they are set. */
function symbols() {
  const part = /\/(?:chapters|pages\/parts)\/([a-z]+)[/.]/.exec(location.pathname)?.[1];
  const found = new Map();
  if (!part) return { part, found };
  for (const formula of document.querySelectorAll("article span.math")) {
    const tex = /^\\\((.{1,20})\\\)$/.exec(formula.textContent.trim())?.[1].trim();
    if (tex && !formula.closest("a, summary, .sb-badge")) found.set(formula, tex);
  }
  return { part, found };
}

/** IDs and symbols say what they stand for, under the mouse and with the keyboard's focus. */
async function previews() {
  const ID = /^[A-Z]{2,}-[\w.-]+$/;
  const links = [...document.querySelectorAll("article a")].filter((a) => a.dataset.id || ID.test(a.textContent.trim()));
  const { part, found } = symbols();
  if (found.size) await loaded("symbols.js", () => window.signalbookSymbols);
  const meanings = window.signalbookSymbols?.[part] ?? {}, seen = new Set();
  for (const [formula, tex] of found) {
    if (!(tex in meanings)) { found.delete(formula); continue; }
    formula.classList.add("sb-symbol");
    if (!seen.has(tex)) formula.tabIndex = 0;  // with the keyboard one stop a symbol, its first place
    seen.add(tex);
  }
  if (!links.length && !found.size) return;
  const note = document.createElement("div");
  note.className = "sb-preview";
  note.setAttribute("role", "tooltip");
  note.id = "sb-preview";
  note.hidden = true;
  document.body.append(note);
  let current = null;
  const hide = () => { current?.removeAttribute("aria-describedby"); current = null; note.hidden = true; };
  const show = async (link) => {
    current = link;
    if (!found.has(link)) await loaded("statements.js", () => window.signalbookStatements);
    const text = found.has(link) ? meanings[found.get(link)] : window.signalbookStatements?.[link.dataset.id ?? link.textContent.trim()];
    if (!text || current !== link) return;
    note.innerHTML = text;
    if (note.querySelector(".math")) {
      if (!window.MathJax) await loaded("maths.js", () => window.MathJax?.startup?.promise);
      await window.MathJax?.startup?.promise;
      if (current !== link) return;
      note.hidden = false;
      await window.MathJax?.typesetPromise?.([note]);
    }
    if (current !== link) return;
    note.hidden = false;
    link.setAttribute("aria-describedby", note.id);
    place();
  };
  const place = () => {
    const at = current.getBoundingClientRect(), box = note.getBoundingClientRect();
    const below = at.bottom + box.height + 8 < innerHeight;
    note.style.left = `${Math.max(8, Math.min(at.left, innerWidth - box.width - 8))}px`;
    note.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - box.height - 6)}px`;
  };
  for (const link of [...links, ...found.keys()]) {
    link.addEventListener("mouseenter", () => show(link));
    link.addEventListener("focus", () => show(link));
    link.addEventListener("mouseleave", hide);
    link.addEventListener("blur", hide);
  }
  // The focus may have scrolled the page itself: then the note goes along.
  addEventListener("scroll", () => current && current === document.activeElement ? place() : hide(), { passive: true });
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
}

/** Load a script of the site once, when it is first needed: also from a folder of files. */
async function loaded(name, there) {
  if (there()) return;
  const src = new URL(name, HERE).href;
  await new Promise((done) => {
    const script = document.querySelector(`script[src="${src}"]`) ?? document.createElement("script");
    script.addEventListener("load", done);
    script.addEventListener("error", done);
    if (!script.isConnected) { script.src = src; document.head.append(script); }
    else if (there()) done();
  });
  for (let tries = 0; tries < 40 && !there(); tries++) await new Promise((go) => setTimeout(go, 50));
}
