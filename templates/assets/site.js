// Optional: every page is complete without it. A theme switch, and copy buttons that leave line numbers out.
const root = document.documentElement;
const kept = (() => { try { return localStorage; } catch { return { getItem() {}, setItem() {} }; } })();  // blocked where cookies are
const chosen = kept.getItem("theme");
if (chosen) root.dataset.theme = chosen;

const system = matchMedia("(prefers-color-scheme: dark)");
const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
const theme = document.createElement("button");
theme.type = "button";
const label = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-label", `${theme.textContent} theme`); };
theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; kept.setItem("theme", root.dataset.theme); label(); });
system.addEventListener("change", label);
label();
document.querySelector(".masthead")?.append(theme);

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
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText([...figure.querySelectorAll(".ln")].map((line) => line.textContent).join(""));
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
  figure.querySelector("figcaption").append(button);
}
