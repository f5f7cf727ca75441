// Tabs: one is open, arrow keys go to the next, Home and End to the first and last.

/** `opened(name)` is called with the data-tab of the tab that was chosen. */
export function tabs(list, opened) {
  const all = [...list.querySelectorAll("[role=tab]")];
  function open(name, focus = false) {
    for (const tab of all) {
      const chosen = tab.dataset.tab === name;
      tab.setAttribute("aria-selected", chosen);
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen && focus) tab.focus();
      if (chosen) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    opened(name);
  }
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) open(tab.dataset.tab);
  });
  list.addEventListener("keydown", (event) => {
    const at = all.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(all[(to + all.length) % all.length].dataset.tab, true);
  });
  return { open };
}
