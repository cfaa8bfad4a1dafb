// The search page: words in, links out.  finding.js and the index are loaded when the first word is typed.
const section = document.querySelector(".search");
const [input, status, list, more] = ["[type=search]", "[role=status]", "ol", "button"].map((one) => section.querySelector(one));
const kinds = [...section.querySelectorAll("[name=kind]")];
const recent = section.querySelector(".recent"), questionList = recent.querySelector("ul");
const said = section.dataset;
const AT_A_TIME = 10, PAUSE = 120, QUESTIONS = "questions", MOST_QUESTIONS = 5;
let finding, found = [], shown = 0, asks = 0;

const pathOf = (href) => new URL(href, document.baseURI).pathname;
const base = pathOf(said.root);

// The language of the page from which the reader came, else the browser's.  A site without it answers in its own.
function language(languages) {
  const before = document.referrer.startsWith(location.origin) ? new URL(document.referrer).pathname.slice(base.length).split("/")[0] : "";
  const wanted = [before, ...navigator.languages.flatMap((one) => [one, one.split("-")[0]])];
  return wanted.find((one) => languages.includes(one)) ?? said.language;
}

async function load() {
  const { open } = await import(pathOf(said.finding));
  return open({ base, language });
}

const kind = () => kinds.find((one) => one.checked).value;
const links = () => [...list.querySelectorAll("a")];

async function search() {
  const ask = ++asks, words = input.value.trim();
  if (!words) {
    found = [];
    return show("", []);
  }
  try {
    await new Promise((after) => setTimeout(after, PAUSE));
    if (ask !== asks) return;
    const answer = await (await (finding ??= load()))(words, kind());
    if (ask !== asks) return;
    count(answer.counts);
    found = answer.found;
    const first = await Promise.all(found.slice(0, AT_A_TIME).map(withText));
    const understood = answer.words === words ? "" : ` ${said.for} ${answer.words}`;
    if (ask === asks) show(found.length ? `${found.length} ${said.found}${understood}` : said.nothing, first);
  } catch {
    finding = undefined;
    found = [];
    show(said.broken, []);
  }
}

// The last questions that found something stay in this browser.  A browser that keeps nothing has none.
function questions() {
  try {
    const kept = JSON.parse(localStorage.getItem(QUESTIONS));
    return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(0, MOST_QUESTIONS) : [];
  } catch {
    return [];
  }
}

function keepQuestions(all) {
  try {
    localStorage.setItem(QUESTIONS, JSON.stringify(all.slice(0, MOST_QUESTIONS)));
  } catch {}
}

function keepQuestion() {
  const words = input.value.trim();
  if (words && found.length) keepQuestions([words, ...questions().filter((one) => one !== words)]);
}

function showQuestions() {
  const all = input.value.trim() ? [] : questions();
  recent.hidden = !all.length;
  questionList.replaceChildren(...all.map(question));
}

function question(words) {
  const item = document.createElement("li");
  const ask = button("ask", words, () => {
    input.value = words;
    input.focus();
    search();
  });
  ask.ariaKeyShortcuts = "Delete";
  const remove = button("remove", "×", () => removeQuestion(item, words));
  remove.ariaLabel = remove.title = `${questionList.dataset.remove}: ${words}`;
  item.append(ask, remove);
  return item;
}

function removeQuestion(item, words) {
  const place = [...questionList.children].indexOf(item);
  keepQuestions(questions().filter((one) => one !== words));
  showQuestions();
  (questionButtons()[place] ?? questionButtons().at(-1) ?? input).focus();
}

const questionButtons = () => [...questionList.querySelectorAll(".ask")];

function button(kind, text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
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
  showQuestions();
  status.textContent = message;
  list.replaceChildren(...pages.map(line));
  shown = pages.length;
  more.hidden = shown >= found.length || !shown;
}

async function showMore() {
  const next = await Promise.all(found.slice(shown, shown + AT_A_TIME).map(withText));
  const lines = next.map(line);
  list.append(...lines);
  shown += next.length;
  more.hidden = shown >= found.length;
  lines[0]?.querySelector("a").focus();
}

const withText = async (one) => ({ ...(await one.data()), kind: one.kind });

// A page, and the sections in which the words stand.
function line(page) {
  const item = document.createElement("li");
  item.append(link(page.url, page.title), small(kinds.find((one) => one.value === page.kind).nextElementSibling.textContent));
  item.append(...page.sections.map(passage));
  return item;
}

function passage(part) {
  const text = document.createElement("p");
  if (part.title) text.append(link(part.url, part.title), " ");
  text.append(...part.excerpt.map(([words, asked]) => (asked ? marked(words) : words)));
  return text;
}

function marked(words) {
  const made = document.createElement("mark");
  made.textContent = words;
  return made;
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
  const stops = [input, ...questionButtons(), ...links(), ...(more.hidden ? [] : [more])];
  const here = document.activeElement.closest(".recent li")?.firstChild ?? document.activeElement;
  stops[Math.min(Math.max(stops.indexOf(here) + step, 0), stops.length - 1)].focus();
}

section.addEventListener("keydown", (event) => {
  if (event.isComposing || event.target.type === "radio") return;
  const act = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Escape: () => (event.target !== input ? input.focus() : input.value ? ((input.value = ""), search()) : history.length > 1 && history.back()),
    Delete: event.target.className === "ask" && (() => event.target.nextSibling.click()),
    Enter: event.target === input && (() => links()[0]?.click()),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
input.addEventListener("input", search);
input.addEventListener("change", keepQuestion);
list.addEventListener("click", keepQuestion);
for (const one of kinds) one.addEventListener("change", search);
more.addEventListener("click", showMore);

const address = new URLSearchParams(location.search);
input.value = address.get("q") ?? "";
(kinds.find((one) => one.value === address.get("kind")) ?? kinds[0]).checked = true;
section.hidden = false;
input.focus();
input.value ? search() : showQuestions();
