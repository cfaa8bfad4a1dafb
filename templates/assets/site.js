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
