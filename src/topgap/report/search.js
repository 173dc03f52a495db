// Shows the groups whose names hold what is typed. The page is whole without it.
"use strict";
(() => {
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const box = document.getElementById("search");
  const status = document.getElementById("matches");
  const links = [...document.querySelectorAll("#index li")];
  const groups = [...document.querySelectorAll("section.group")];
  const names = links.map((link) => fold(link.textContent));
  const count = (number) => number.toLocaleString("en");
  const all = groups.length === 1 ? "1 group" : `${count(groups.length)} groups`;
  const shown = groups.map(() => true);
  let wanted = "";

  const search = () => {
    if (fold(box.value).trim() === wanted) return;
    wanted = fold(box.value).trim();
    let matches = 0;
    names.forEach((name, place) => {
      const fits = name.includes(wanted);
      matches += fits;
      if (fits === shown[place]) return;
      shown[place] = fits;
      links[place].hidden = groups[place].hidden = !fits;
    });
    const verb = matches === 1 ? "matches" : "match";
    status.textContent = wanted ? `${count(matches)} of ${all} ${verb}` : all;
  };

  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const first = groups[shown.indexOf(true)];
    if (first) {
      first.scrollIntoView();
      first.querySelector("h3").focus({ preventScroll: true });
    }
  });
  status.textContent = all;
  box.closest("search").hidden = false;
  search(); // what a browser has kept in the box
})();
