// What scrolls can be reached by the keyboard, and the search has a name.
document$.subscribe(() => {
  for (const code of document.querySelectorAll("pre > code")) code.tabIndex = 0;
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) table.tabIndex = 0;
  const search = document.querySelector(".md-search");
  if (search) search.setAttribute("aria-label", "Search");
});
