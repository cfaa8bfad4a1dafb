// The definition of a term, in a box beside its link, while the link is pointed at or focused. It is read from the term's page.
const box = document.createElement("div");
box.id = "preview";
box.className = "drawn";
box.hidden = true;
box.setAttribute("role", "tooltip");
box.setAttribute("aria-live", "polite");  // the definition may come after a screen reader has read the link
document.body.append(box);

const definitions = {};
let term, waiting;

async function definition(url) {
  const answer = await fetch(url);
  if (!answer.ok) return [];
  const article = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("article.prose");
  for (const extra of article.querySelectorAll(".cite, .fnref, annotation")) extra.remove();
  const said = document.createElement("p");
  said.textContent = article.querySelector("p").textContent;
  const picture = article.querySelector(".drawn svg:not([hidden] *)");
  return picture?.getAttribute("width") <= 330 ? [said, picture] : [said];
}

function hide() {
  clearTimeout(waiting);
  box.hidden = true;
  term?.removeAttribute("aria-describedby");
  term = undefined;
}

const isWanted = (link) => link.matches(":hover, :focus");

function hideSoon() {  // not at once: the pointer may be on its way into the box
  clearTimeout(waiting);
  waiting = setTimeout(() => { if (term && !isWanted(term)) hide(); }, 250);
}

async function open(link) {
  if (link === term || !isWanted(link)) return;
  hide();
  term = link;
  const parts = await (definitions[link.href] ??= definition(link.href).catch(() => []));
  if (term !== link || !parts.length) return;
  box.replaceChildren(...parts);
  box.hidden = false;
  link.setAttribute("aria-describedby", box.id);
  place(link.getClientRects()[0]);
}

function place({ left, top, bottom }) {
  const { offsetWidth: width, offsetHeight: height } = box;
  const isBelow = bottom + height < innerHeight || top < height;
  box.style.left = `${scrollX + Math.max(16, Math.min(left, document.documentElement.clientWidth - width - 16))}px`;
  box.style.top = `${scrollY + (isBelow ? bottom : top - height)}px`;
}

box.addEventListener("pointerenter", () => clearTimeout(waiting));
box.addEventListener("pointerleave", hideSoon);
addEventListener("keydown", ({ key }) => { if (key === "Escape") hide(); });

export function preview(link, event) {
  if (!/terms\/[^/]+\/$/.test(link.pathname)) return;  // the list of all terms
  link.addEventListener("pointerleave", hideSoon);
  link.addEventListener("blur", hideSoon);
  clearTimeout(waiting);
  if (event === "focusin") open(link);
  else waiting = setTimeout(open, 150, link);
}
