"""Every page, narrow and wide, light and dark."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urlsplit

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

AXE = r"""() => axe.run(document, {resultTypes: ["violations"]}).then((result) =>
  result.violations.filter((v) => ["serious", "critical"].includes(v.impact)).flatMap((v) =>
    v.nodes.slice(0, 5).map((node) => {
      const why = node.failureSummary.replace(/\s+/g, " ");
      return `${v.id}: ${node.target.join(" ")}: ${why}`;
    })))"""


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


def test_page_says_nothing_but_words(html, site):
    text = (site / html).read_text()
    if html == "genindex.html" or "<article" not in text:
        return
    article = text[text.index("<article") : text.index("</article>")]
    said = re.sub(r"(?s)<(pre|script|style|code|dt)\b.*?</\1>|<[^>]+>", " ", article)
    assert [remains for remains in REMAINS if remains in unescape(said)] == []


def test_page_weighs_little(html, desktop, site):
    """All that a first visit loads, as it lies on the disk; figures far below come when needed."""
    loaded = set()
    desktop.page.on("requestfinished", lambda r: loaded.add(urlsplit(r.url).path.lstrip("/")))
    desktop.open(html).wait_for_load_state("networkidle")
    weights = {name: (site / name).stat().st_size for name in loaded if (site / name).is_file()}
    heaviest = sorted(weights, key=weights.__getitem__)[-4:]
    assert sum(weights.values()) <= MOST, {name: weights[name] for name in heaviest}


def test_page_is_whole(html, window, view):
    page = window.open(html)
    wrong = page.evaluate(INSPECT) + window.wrong
    assert not wrong, "\n".join(wrong)
    assert page.get_attribute("html", "data-theme") in (view[1], None)


def test_page_is_accessible(html, window, axe):
    page = window.open(html)
    page.evaluate(axe)
    wrong = page.evaluate(AXE)
    assert not wrong, "\n".join(wrong)


def test_page_is_whole_without_a_server(html, folder):
    wrong = folder.open(html).evaluate(INSPECT) + folder.wrong
    assert not wrong, "\n".join(wrong)
