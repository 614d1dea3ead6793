"""Every page, narrow and wide, by day and at night."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise
from xml.etree import ElementTree

from tests.site.drawings import LEAST, PHONE, drawings, panels, points, tick_labels
from tests.site.waits import wait_until

# What a reader would see as broken, found in the page itself.
INSPECT = r"""async () => {
  const images = [...document.images].filter((e) => e.loading === "lazy");
  for (const e of images) e.loading = "eager"; // pictures that wait for a reader to come near
  await Promise.all([...document.images].map((e) => e.decode().catch(() => null)));
  const wrong = [];
  const name = (e) => e.outerHTML.replace(/\s+/g, " ").slice(0, 160);
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    wrong.push(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth}`);
  const scrolls = (e) => {
    for (let a = e.parentElement; a && a !== document.body; a = a.parentElement)
      if (getComputedStyle(a).overflowX !== "visible") return true;
    return false;
  };
  for (const e of document.querySelectorAll("article *")) {
    const box = e.getBoundingClientRect();
    if (box.width > 1 && box.right > innerWidth + 1 && !scrolls(e))
      wrong.push(`cut off at the right: ${name(e)}`);
  }
  for (const e of document.querySelectorAll(".math"))
    if (!e.querySelector("mjx-container")) wrong.push(`maths not rendered: ${name(e)}`);
  for (const e of document.querySelectorAll("mjx-merror, [data-mjx-error]"))
    wrong.push(`maths with an error: ${name(e)}`);
  const text = document.querySelector("article")?.cloneNode(true);
  text?.querySelectorAll("code, pre, script, style, mjx-container").forEach((e) => e.remove());
  for (const raw of text?.textContent.match(/\$[^$\n]+\$|\\\(.+?\\\)|\\\[.+?\\\]/g) ?? [])
    wrong.push(`raw maths in the text: ${raw}`);
  for (const e of document.images) {
    if (!e.complete || !e.naturalWidth) wrong.push(`missing image: ${name(e)}`);
    if (!e.alt.trim() || e.alt.startsWith("_images") || e.alt.includes("/"))
      wrong.push(`image without alt text: ${name(e)}`);
  }
  for (const e of document.querySelectorAll("article table, .sb-card, .sb-box, .sb-erratum")) {
    const box = e.closest(".sb-table, .pst-scrollable-table-container") ?? e.parentElement;
    if (box.clientWidth && e.getBoundingClientRect().width > box.clientWidth + 1)
      wrong.push(`wider than its box: ${name(e)}`);
  }
  const all = (selector) => [...document.querySelectorAll(selector)];
  const labels = all("article .sb-table").map((e) => e.ariaLabel);
  const folds = all("article details.hide > summary").map((e) => e.ariaLabel ?? e.innerText);
  for (const said of [labels, folds])
    for (const same of new Set(said.filter((words, at) => said.indexOf(words) !== at)))
      wrong.push(`two things on the page are called: ${same}`);
  for (const words of [...folds, ...labels])
    if (!words || /toggle hidden/i.test(words)) wrong.push(`not said what it is: ${words}`);
  if (!document.title || !document.documentElement.lang) wrong.push("no title or no language");
  return wrong.slice(0, 12);
}"""

# What MathJax draws inside of a formula is not looked into; the formula itself is. While
# axe looks, an empty box of the same size stands for the drawing: that halves its time.
# Colours are the dearest rules. They come from style sheets, the same for all elements of a
# kind: a chain of names, classes and what else styles select by, from the page down. So of each
# kind one is looked at, and what holds only kinds that were there before is hidden.
AXE = r"""async ({rules, kinds}) => {
  const formulas = [...document.querySelectorAll("mjx-container")].map((formula) => {
    const {width, height} = formula.firstElementChild?.getBoundingClientRect() ?? {};
    const box = document.createElement("span");
    box.style = `display: inline-block; width: ${width}px; height: ${height}px`;
    return {formula, box, drawing: [...formula.childNodes]};
  });
  for (const {formula, box} of formulas) formula.replaceChildren(box);
  const seen = new Set();
  const hidden = [];
  const known = (e, above) => {
    const at = [...(e.parentElement?.children ?? [])].indexOf(e);
    const place = e.matches("td, th") ? at : e.matches("tr") ? at % 2 : at === 0;
    const values = ["class", "style", "type", "aria-sort"].map((name) => e.getAttribute(name));
    const kind = [above, e.tagName, place, ...e.getAttributeNames(), ...values].join(" ");
    const before = seen.has(kind);
    seen.add(kind);
    const children = [...e.children].map((child) => [child, known(child, kind)]);
    if (before && children.every(([_, same]) => same)) return true;
    hidden.push(...children.filter(([_, same]) => same).map(([child]) => child));
    return false;
  };
  if (kinds) known(document.body, "");
  const shown = hidden.map((e) => e.style.display);
  for (const e of hidden) e.style.setProperty("display", "none", "important");
  const {violations} = await axe.run({exclude: ["mjx-container > *"]}, {
    resultTypes: ["violations"], ...rules
  });
  hidden.forEach((e, k) => { e.style.display = shown[k]; });
  for (const {formula, drawing} of formulas) formula.replaceChildren(...drawing);
  return violations.filter((v) => ["serious", "critical"].includes(v.impact)).flatMap((v) =>
    v.nodes.slice(0, 5).map((node) => {
      const why = node.failureSummary.replace(/\s+/g, " ");
      return `${v.id}: ${node.target.join(" ")}: ${why}`;
    }));
}"""

COLOURS = ("color-contrast", "link-in-text-block")
ALL_BUT_COLOURS = {"rules": {"rules": {rule: {"enabled": False} for rule in COLOURS}}}
COLOURS_ALONE = {"rules": {"runOnly": list(COLOURS)}, "kinds": True}
# Whether an open page has followed its window into the night; pages without a theme need not.
FOLLOWED = "['dark', undefined].includes(document.documentElement.dataset.theme)"
# On a phone, the pages held to the rules of colours: what a phone alone shows is on one of them.
EACH_KIND = (
    "index.html",
    "search.html",
    "pages/ledger.html",
    "pages/notation.html",
    "pages/errata/orthogonality.html",
    "chapters/orthogonality/gap-depth-width.html",
)

# What code left behind where a sentence should stand.
REMAINS = (
    "dtype:",
    "\N{COPYRIGHT SIGN}",
    "object at 0x",
    "{glue",
    "{cite",
    "{prf:",
    "{ref",
    "{doc}",
)
MOST = 1_500_000  # bytes that a page may load, before any compression
FILES = 40  # that it may ask for


def test_page_says_nothing_but_words(html, site):
    text = (site / html).read_text()
    if html == "genindex.html" or "<article" not in text:
        return
    article = text[text.index("<article") : text.index("</article>")]
    said = re.sub(r"(?s)<(pre|script|style|code|dt)\b.*?</\1>|<[^>]+>", " ", article)
    assert [remains for remains in REMAINS if remains in unescape(said)] == []


def test_page_weighs_little(html, window, width, site):
    """All that a visit loads, as it lies on the disk; figures far below come when needed.

    In a tab that has shown no other page; the tests that follow look at the same visit.
    """
    if width == PHONE:
        return
    window.renew()
    window.open(html).wait_for_load_state("networkidle")
    weights = {n: (site / n).stat().st_size for n in window.loaded if (site / n).is_file()}
    assert html in weights
    heaviest = sorted(weights, key=weights.__getitem__)[-4:]
    assert sum(weights.values()) <= MOST, {name: weights[name] for name in heaviest}
    assert len(window.loaded) <= FILES, sorted(window.loaded)


def test_page_is_whole(html, window):
    page = window.open(html)
    wrong = page.evaluate(INSPECT) + window.wrong
    assert not wrong, "\n".join(wrong)
    assert page.get_attribute("html", "data-theme") in ("light", None)


def test_page_is_accessible(html, window, width, axe):
    page = window.open(html)
    page.evaluate(axe)
    wrong = page.evaluate(AXE, ALL_BUT_COLOURS)
    if width != PHONE or html in EACH_KIND:
        wrong += page.evaluate(AXE, COLOURS_ALONE)
    assert not wrong, "\n".join(wrong)


def test_colours_are_accessible_at_night(html, window, width, axe, night):
    page = window.open(html)
    wait_until(page, FOLLOWED)
    if width != PHONE or html in EACH_KIND:
        page.evaluate(axe)
        wrong = page.evaluate(AXE, COLOURS_ALONE)
        assert not wrong, "\n".join(wrong)


def test_panels_stand_in_one_column_on_a_phone_and_labels_can_be_read(html, window, width, site):
    if width != PHONE or "<figure" not in (site / html).read_text():
        return
    for address, shown in drawings(window.open(html)):
        path = site / window.file(address)
        if path.suffix == ".svg":
            tree = ElementTree.parse(path).getroot()
            scale = shown / points(tree)
            assert [size for size in tick_labels(tree) if scale * size < LEAST] == [], path.name
            rows = sorted(panels(tree), key=lambda panel: panel[1])
            for above, below in pairwise(rows):
                apart = above[3] <= below[1] or above[:2] == below[:2]
                assert apart, f"{path.name}: side by side"
