"use strict";
// Sets the formulas of a page: TeX, in MathJax's own fonts, all from this site.
(() => {
  const root = new URL("mathjax", document.currentScript.src).href;
  window.MathJax = {
    loader: { paths: { mathjax: root }, load: ["core", "input/tex", "output/chtml", "a11y/assistive-mml"] },
    options: { processHtmlClass: "tex2jax_process|mathjax_process|math|output_area" },
    chtml: { fontURL: `${root}/output/chtml/fonts/woff-v2` },
  };
  const script = document.createElement("script");
  script.src = `${root}/startup.js`;
  document.head.append(script);
})();
