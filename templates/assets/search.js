// The search page: words in, links out.  Pagefind and its index are loaded when the first word is typed.
const section = document.querySelector(".search");
const [input, status, list, more] = ["[type=search]", "[role=status]", "ol", "button"].map((one) => section.querySelector(one));
const kinds = [...section.querySelectorAll("[name=kind]")];
const said = section.dataset;
const AT_A_TIME = 10;
let pagefind, found = [], shown = 0, asked = 0;

// An index of each kind; beside the first stands the program.
async function load() {
  const [first, ...others] = kinds.slice(1).map((one) => [new URL(one.dataset.index, document.baseURI).pathname, options(one)]);
  const program = await import(`${first[0]}pagefind.js`);
  await program.options(first[1]);
  await Promise.all(others.map(([path, options]) => program.mergeIndex(path, options)));
  return program;
}

const base = new URL(section.dataset.root, document.baseURI).pathname;
const options = (one) => ({ mergeFilter: { type: one.value }, baseUrl: base });
// Only posts may stand elsewhere than in the folder of their kind.
const kindOf = (url) => kinds.slice(1).find((one) => url.startsWith(`${base}${one.value}/`)) ?? kinds[1];

const kind = () => kinds.find((one) => one.checked).value;
const links = () => [...list.querySelectorAll("a")];

async function search() {
  const ask = ++asked, words = input.value.trim();
  if (!words) {
    found = [];
    return show("", []);
  }
  try {
    const answer = await (await (pagefind ??= load())).debouncedSearch(words, { filters: kind() ? { type: kind() } : {} }, 120);
    if (ask !== asked || !answer) return;
    count(answer.totalFilters.type ?? {});
    found = answer.results;
    const first = await Promise.all(found.slice(0, AT_A_TIME).map((one) => one.data()));
    if (ask === asked) show(found.length ? `${found.length} ${said.found}` : said.nothing, first);
  } catch {
    pagefind = undefined;
    found = [];
    show(said.broken, []);
  }
}

// The address keeps the question, so that who comes back from a page finds what they had found.
function remember(words) {
  const here = new URL(location);
  for (const [name, value] of [["q", words], ["kind", kind()]]) value ? here.searchParams.set(name, value) : here.searchParams.delete(name);
  history.replaceState(null, "", here);
}

function count(types) {
  for (const one of kinds) if (one.value) one.parentNode.querySelector("small").textContent = types[one.value] ?? 0;
}

function show(message, pages) {
  remember(input.value.trim());
  status.textContent = message;
  list.replaceChildren(...pages.map(line));
  shown = pages.length;
  more.hidden = shown >= found.length || !shown;
}

async function showMore() {
  const next = await Promise.all(found.slice(shown, shown + AT_A_TIME).map((one) => one.data()));
  const lines = next.map(line);
  list.append(...lines);
  shown += next.length;
  more.hidden = shown >= found.length;
  lines[0]?.querySelector("a").focus();
}

// A page, and the first of its sections in which the words stand.
function line(page) {
  const item = document.createElement("li");
  const part = page.sub_results.find((one) => one.anchor);
  item.append(link(page.url, page.meta.title), small(kindOf(page.url).nextElementSibling.textContent));
  const text = document.createElement("p");
  text.innerHTML = `… ${(part ?? page).excerpt} …`;  // words of this site, escaped by Pagefind; those asked for in <mark>
  if (part) text.prepend(link(part.url, part.title), " ");
  item.append(text);
  return item;
}

function link(href, text) {
  const made = document.createElement("a");
  made.href = href;
  made.textContent = text;
  return made;
}

function small(text) {
  const made = document.createElement("small");
  made.textContent = text;
  return made;
}

function move(step) {
  const stops = [input, ...links(), ...(more.hidden ? [] : [more])];
  stops[Math.min(Math.max(stops.indexOf(document.activeElement) + step, 0), stops.length - 1)].focus();
}

section.addEventListener("keydown", (event) => {
  if (event.isComposing || event.target.type === "radio") return;
  const act = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Escape: () => (event.target !== input ? input.focus() : input.value ? ((input.value = ""), search()) : history.length > 1 && history.back()),
    Enter: event.target === input && (() => links()[0]?.click()),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
input.addEventListener("input", search);
for (const one of kinds) one.addEventListener("change", search);
more.addEventListener("click", showMore);

const asks = new URLSearchParams(location.search);
input.value = asks.get("q") ?? "";
(kinds.find((one) => one.value === asks.get("kind")) ?? kinds[0]).checked = true;
section.hidden = false;
input.focus();
if (input.value) search();
