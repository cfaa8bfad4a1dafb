// Optional: asks the questions that are due, one at a time, in the order of the page; the answers stay in this browser.
const KEY = "review", DAYS = [1, 3, 7, 14, 30];
const box = document.querySelector(".review"), all = document.querySelector(".all");
const due = box.querySelector(".due"), now = box.querySelector(".now");
const cards = [...all.querySelectorAll(".card")];
const create = (name, properties) => Object.assign(document.createElement(name), properties);

const today = () => { const day = new Date(); return Math.round(Date.UTC(day.getFullYear(), day.getMonth(), day.getDate()) / 864e5); };
const fair = (state) => Array.isArray(state) && DAYS[state[0]] && Number.isInteger(state[1]);
const load = () => { try { return Object.fromEntries(Object.entries(JSON.parse(localStorage.getItem(KEY)) ?? {}).filter(([, state]) => fair(state))); } catch { return {}; } };
const save = (states) => { try { localStorage.setItem(KEY, JSON.stringify(states)); } catch { due.textContent = "This browser keeps nothing for this site."; } };

// The state of a question is [compartment, the day on which it is due]; a question without one is due today.
const isDue = (states, card) => (states[card.dataset.card]?.[1] ?? 0) <= today();
const answer = (card, knew) => {
  const states = load(), id = card.dataset.card;
  const next = knew ? Math.min((states[id]?.[0] ?? -1) + 1, DAYS.length - 1) : 0;
  states[id] = [next, today() + DAYS[next]];
  save(states);
  show(true);
};

function ask(card, focus) {
  const copy = card.cloneNode(true), fold = copy.querySelector("details.fold:last-child") ?? copy.querySelector("details");
  for (const node of copy.querySelectorAll("[id]")) node.removeAttribute("id");
  const line = create("p", { className: "meta" });
  for (const [text, knew, key] of [["I did not know it", false, "1"], ["I knew it", true, "2"]]) {
    const button = create("button", { type: "button", textContent: `${text} (${key})` });
    button.setAttribute("aria-keyshortcuts", key);
    button.addEventListener("click", () => answer(card, knew));
    line.append(button);
  }
  fold.open = false;
  fold.append(line);
  copy.tabIndex = -1;
  copy.addEventListener("keydown", (event) => {  // only inside the question, and only when the answer is open
    if (!fold.open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "1" || event.key === "2") answer(card, event.key === "2");
  });
  now.replaceChildren(copy);
  if (focus) copy.querySelector("summary").focus();
}

function show(focus = false) {
  const states = load(), waiting = cards.filter((card) => isDue(states, card));
  const days = Object.values(states).map(([, day]) => day).filter((day) => day > today());
  due.textContent = waiting.length ? `${waiting.length} of ${cards.length} due today.` : `Nothing is due today. The next question comes in ${days.length ? Math.min(...days) - today() : 1} d.`;
  waiting.length ? ask(waiting[0], focus) : now.replaceChildren();
  now.hidden = !waiting.length;
  if (focus && !waiting.length) box.querySelector("button").focus();
}

const list = box.querySelector("[value=list]");
list.addEventListener("click", () => {
  all.hidden = !all.hidden;
  list.setAttribute("aria-pressed", !all.hidden);
});
box.querySelector("[value=forget]").addEventListener("click", () => { save({}); show(); });
all.hidden = true;
box.hidden = false;
show();
addEventListener("pageshow", (event) => event.persisted && show());
