// Optional: what a reader has read and solved, kept in this browser under ids, and carried elsewhere by a link or a file.
const KEY = "progress";
const lines = [...document.querySelectorAll("li[data-progress]")].map((line) => ({ line, id: line.dataset.progress, link: line.querySelector("a") }));
const box = document.querySelector(".progress"), said = box.querySelector("[role=status]");
const idsIn = (values) => (Array.isArray(values) ? values : []).filter((one) => typeof one === "string" && /^(post|exercise):\S{1,200}$/.test(one));
const load = () => { try { return new Set(idsIn(JSON.parse(localStorage.getItem(KEY)))); } catch { return new Set(); } };
const save = (done) => { try { localStorage.setItem(KEY, JSON.stringify([...done])); } catch { said.textContent = "This browser keeps nothing for this site."; } };
const add = (ids) => {
  const done = load(), before = done.size;
  for (const id of ids) done.add(id);
  save(done);
  said.textContent = `${done.size - before} new entries were taken over.`;
  show();
};
const word = (id) => (id.startsWith("exercise:") ? "solved" : "read");
const create = (name, properties) => Object.assign(document.createElement(name), properties);

for (const one of lines) {
  one.button = create("button", { type: "button", className: "done" });
  one.button.addEventListener("click", () => {
    const done = load();
    done.delete(one.id) || done.add(one.id);
    save(done);
    show();
  });
  one.line.querySelector(".x").append(" ", one.button);
}
for (const phase of document.querySelectorAll(".phase")) if (phase.querySelector("li[data-progress]")) phase.querySelector("header").append(create("p", { className: "mine" }));

function show() {
  const done = load();
  for (const { id, button, link } of lines) {
    button.textContent = word(id);
    button.setAttribute("aria-pressed", done.has(id));
    button.setAttribute("aria-label", `${word(id)}: ${link.textContent}`);
    for (const node of document.querySelectorAll(".graph a")) if (node.href.baseVal === link.getAttribute("href")) node.classList.toggle("done", done.has(id));
  }
  for (const mine of document.querySelectorAll(".phase .mine")) {
    const own = [...mine.closest(".phase").querySelectorAll("li[data-progress]")];
    mine.textContent = `you: ${own.filter((line) => done.has(line.dataset.progress)).length} of ${own.length}`;
  }
  const left = lines.find(({ id }) => !done.has(id)), here = lines.filter(({ id }) => done.has(id)).length;
  const line = box.querySelector(".continue");
  line.textContent = `${here} of ${lines.length} done. `;
  if (left) line.append(here ? "Continue here: " : "Begin here: ", create("a", { href: left.link.href, textContent: left.link.textContent }));
}

const actions = {
  link: async () => {
    const address = `${location.href.split("#")[0]}#${KEY}=${[...load()].map(encodeURIComponent).join(",")}`;
    try { await navigator.clipboard.writeText(address); said.textContent = "The link is copied. Open it on the other device."; } catch { said.textContent = address; }
  },
  save: () => {
    const href = URL.createObjectURL(new Blob([JSON.stringify({ [KEY]: [...load()] })], { type: "application/json" }));
    create("a", { href, download: "progress.json" }).click();
    URL.revokeObjectURL(href);
  },
  forget: () => { save(new Set()); said.textContent = "Forgotten."; show(); },
};
for (const button of box.querySelectorAll("button")) button.addEventListener("click", actions[button.value]);
box.querySelector("input").addEventListener("change", async ({ target }) => {
  try { add(idsIn(JSON.parse(await target.files[0].text())[KEY])); } catch { said.textContent = "This file holds no progress."; }
  target.value = "";
});

function arrive() {  // by a link that holds the progress of another device
  if (!location.hash.startsWith(`#${KEY}=`)) return;
  const carried = location.hash.slice(KEY.length + 2).split(",");
  history.replaceState(null, "", location.pathname + location.search);
  try { add(idsIn(carried.map(decodeURIComponent))); } catch { said.textContent = "This link holds no progress."; }
}
box.hidden = false;
show();
arrive();
addEventListener("hashchange", arrive);
addEventListener("pageshow", show);
