// Optional: every page is complete without it. A theme switch, copy buttons that copy what runs, tabs that stay chosen.
const root = document.documentElement;
const words = { copy: "copy", copied: "copied", light: "Light", dark: "Dark", theme: "theme", ...document.currentScript.dataset };
const kept = (() => { try { return localStorage; } catch { return { getItem() {}, setItem() {} }; } })();  // blocked where cookies are
const chosen = kept.getItem("theme");
if (chosen) root.dataset.theme = chosen;

const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const theme = document.createElement("button");
theme.type = "button";
const label = () => { theme.textContent = dark() ? words.light : words.dark; theme.setAttribute("aria-label", `${theme.textContent} ${words.theme}`); };
theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; kept.setItem("theme", root.dataset.theme); label(); });
system.addEventListener("change", label);
label();
document.querySelector(".masthead")?.append(theme);

// On a disk nobody looks for the index.html of a folder.
if (location.protocol === "file:") for (const link of document.links) if (link.protocol === "file:" && link.pathname.endsWith("/")) link.pathname += "index.html";

const toSearch = document.querySelector('[aria-keyshortcuts="/"]');
addEventListener("keydown", (event) => {
  if (event.key !== "/" || !toSearch || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  const input = document.querySelector(".search [type=search]");
  input ? input.focus() : toSearch.click();
});

for (const figure of navigator.clipboard ? document.querySelectorAll("figure.code") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = words.copy;
  button.addEventListener("click", async () => {
    const code = figure.querySelector("pre").cloneNode(true);
    for (const extra of code.querySelectorAll("del, .mk")) extra.remove();
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = words.copied;
    setTimeout(() => { button.textContent = words.copy; }, 2000);
  });
  figure.querySelector("figcaption").append(button);
}

// Sets of tabs: radio buttons become a list of tabs as in WAI-ARIA; the tabs chosen last, on any page, are open.
const newest = () => (kept.getItem("tabs") ?? "").split(" ").filter(Boolean);
const sets = [...document.querySelectorAll(".tabs")].map((box) => {
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", box.getAttribute("aria-label"));
  const tabs = [...box.querySelectorAll(":scope > input")].map((input) => {
    const label = input.nextElementSibling, panel = label.nextElementSibling, tab = document.createElement("button");
    const set = (node, names) => { for (const name in names) node.setAttribute(name, names[name]); };
    set(tab, { type: "button", role: "tab", id: `${input.id}-tab`, "aria-controls": `${input.id}-panel` });
    set(panel, { role: "tabpanel", id: `${input.id}-panel`, "aria-labelledby": tab.id });
    if (!panel.querySelector("a, button, [tabindex]")) panel.tabIndex = 0;
    tab.textContent = label.textContent;
    input.hidden = label.hidden = true;
    list.append(tab);
    return { input, tab, panel };
  });
  const open = (key) => {
    if (!tabs.some(({ input }) => input.value === key)) return false;
    for (const { input, tab } of tabs) {
      input.checked = input.value === key;
      tab.setAttribute("aria-selected", input.checked);
      tab.tabIndex = input.checked ? 0 : -1;
    }
    return true;
  };
  for (const [at, { input, tab }] of tabs.entries()) {
    tab.addEventListener("click", () => {
      const top = tab.getBoundingClientRect().top;
      kept.setItem("tabs", [input.value, ...newest().filter((key) => key !== input.value)].slice(0, 20).join(" "));
      for (const other of sets) other.open(input.value);
      scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: "instant" });
    });
    tab.addEventListener("keydown", (event) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const next = tabs[to % tabs.length].tab;
      next.focus();
      next.click();
    });
  }
  box.prepend(list);
  newest().some(open) || open(tabs[0]?.input.value);
  return { box, tabs, open };
});
const reveal = () => {  // what a link leads to, behind a tab
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (const { tabs, open } of sets) for (const { input, panel } of tabs) if (target && panel.contains(target)) open(input.value);
};
addEventListener("hashchange", reveal);
reveal();

// A figure to explore: the page holds the figure of each value, and the slider shows one of them.
for (const knob of document.querySelectorAll(".knob")) {
  const [, value, slider, said] = knob.children, figures = knob.parentElement.querySelectorAll("[data-x]");
  const show = (event) => {
    figures.forEach((figure, at) => { figure.hidden = at != slider.value; });
    const figure = figures[slider.value];
    slider.ariaValueText = value.textContent = figure.dataset.x;
    if (event) said.textContent = figure.querySelector("svg").ariaLabel;
  };
  slider.addEventListener("input", show);
  slider.hidden = false;
  show();
}

// The definition of a term beside its link. The script for it comes when a reader first points at such a link, or tabs to it.
const define = ({ target, type, pointerType }) => {
  const link = target.closest?.(':is(.prose, .flow) a[href*="terms/"]');
  if (link && pointerType !== "touch" && location.protocol !== "file:") import(new URL(words.preview, document.baseURI)).then(({ preview }) => preview(link, type));
};
addEventListener("pointerover", define);
addEventListener("focusin", define);

// A post whose end was on the screen counts as read; the page of a series shows it.
const post = document.querySelector("article[data-progress]");
if (post) new IntersectionObserver(([end], watch) => {
  if (!end.isIntersecting) return;
  watch.disconnect();
  let done = [];
  try { done = JSON.parse(kept.getItem("progress")) ?? []; } catch {}
  kept.setItem("progress", JSON.stringify([...new Set([...done, post.dataset.progress])]));
}).observe(post.lastElementChild);
