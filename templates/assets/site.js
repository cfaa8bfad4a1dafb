// Optional: every page is complete without it. A theme switch, and copy buttons that leave line numbers out.
const root = document.documentElement;
const stored = localStorage.getItem("theme");
if (stored) root.dataset.theme = stored;

const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const theme = document.createElement("button");
theme.type = "button";
const label = () => (theme.textContent = dark() ? "Light" : "Dark");
theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; localStorage.setItem("theme", root.dataset.theme); label(); });
label();
document.querySelector(".masthead").append(theme);

for (const figure of document.querySelectorAll("figure.code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText([...figure.querySelectorAll(".ln")].map((line) => line.textContent).join(""));
    button.textContent = "copied";
  });
  figure.querySelector("figcaption").append(button);
}
