// Optional: the mark "solved", kept in this browser under the exercise's id, beside the posts that its reader has read.
const KEY = "progress";
const load = () => { try { const ids = JSON.parse(localStorage.getItem(KEY)); return new Set(Array.isArray(ids) ? ids : []); } catch { return new Set(); } };
const box = document.querySelector(".solved");

if (box) {
  const button = document.createElement("button"), id = box.dataset.progress;
  button.type = "button";
  button.textContent = "Solved";
  button.addEventListener("click", () => {
    const done = load();
    done.delete(id) || done.add(id);
    try { localStorage.setItem(KEY, JSON.stringify([...done])); } catch { box.append(" This browser keeps nothing for this site."); }
    show();
  });
  box.append(button, " Your mark, kept in this browser.");
  box.hidden = false;
}

function show() {
  const done = load();
  box?.firstChild.setAttribute("aria-pressed", done.has(box.dataset.progress));
  for (const line of document.querySelectorAll("li[data-progress]")) line.querySelector(".state").hidden = !done.has(line.dataset.progress);
}
show();
addEventListener("pageshow", show);
