// Gives what the theme makes in the browser the names and the focus that readers need who use a
// keyboard or listen: the search, the buttons of code, and code or tables that have to be scrolled.
function label() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  document.querySelectorAll(".md-code__nav").forEach((buttons, index) => {
    buttons.setAttribute("aria-label", `Code ${index + 1}`);
  });
  document.querySelectorAll("pre > code, .md-typeset__scrollwrap, p:has(> img)").forEach((part) => {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  });
}
label();
new MutationObserver(label).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", label);
addEventListener("load", label);
