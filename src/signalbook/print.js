// Make one document of several pages of the site, to be printed: export.py calls it in one of them.
async ([title, pages]) => {
  const own = new Map(pages.map((name, number) => [new URL(name, location.origin).pathname, `p${number}-`]));

  /** Where a link of a page leads within the document, or "". */
  const inside = (address) => {
    const mark = own.get(address.pathname);
    return mark === undefined ? "" : `#${mark}${decodeURIComponent(address.hash.slice(1))}`;
  };

  const taken = async (name) => {
    const address = new URL(name, location.origin), mark = own.get(address.pathname);
    const page = new DOMParser().parseFromString(await (await fetch(address)).text(), "text/html");
    const text = page.querySelector("article");
    for (const idle of text.querySelectorAll(
      "script, noscript, source, button, .headerlink, .sb-filters, .sb-figure-links, .toctree-wrapper, details.hide, .sb-play",
    )) idle.remove();
    for (const fold of text.querySelectorAll("details")) fold.open = true;
    for (const image of text.querySelectorAll("img")) {
      image.src = new URL(image.getAttribute("src"), address);
      image.loading = "eager";
    }
    for (const link of text.querySelectorAll("a[href]")) {
      const to = new URL(link.getAttribute("href"), address);
      if (to.origin !== location.origin) continue;
      const place = inside(to);
      if (place) link.setAttribute("href", place);
      else link.removeAttribute("href");
    }
    for (const drawn of text.querySelectorAll("use")) drawn.setAttribute("href", `#${mark}${drawn.getAttribute("href").slice(1)}`);
    for (const named of text.querySelectorAll("[id]")) named.id = mark + named.id;
    const whole = document.createElement("section");
    whole.id = mark;
    whole.style.breakBefore = "page";
    whole.append(text);
    return whole;
  };

  const sections = [];
  for (const name of pages) sections.push(await taken(name));
  document.title = title;
  document.documentElement.dataset.theme = document.documentElement.dataset.mode = "light";
  document.body.className = "";
  const main = document.createElement("main");
  main.className = "bd-content sb-print";
  main.append(...sections);
  document.body.replaceChildren(main);
  if (main.querySelector(".math")) {
    if (window.MathJax?.typesetPromise) await window.MathJax.typesetPromise();
    else {
      const maths = document.createElement("script");
      maths.src = new URL("_static/maths.js", location.origin);
      document.head.append(maths);
      while (!window.MathJax?.startup?.promise) await new Promise((go) => setTimeout(go, 50));
      await window.MathJax.startup.promise;
    }
  }
  // The fonts of formulas are asked for when the formulas are laid out.
  main.getBoundingClientRect();
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => null)));
}
