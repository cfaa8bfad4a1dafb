// {series, posts, exercise, review} → what a browser keeps of a reader, what a link and a file carry to an empty one,
// and what the keyboard alone does on the page of questions.
import { complaints, given, launch } from "./browser.mjs";

const { series, posts, exercise, review } = given();
const browser = await launch();
const report = { complaints: [] };
const ids = (page) => page.evaluate(() => JSON.parse(localStorage.getItem("progress") ?? "[]").sort());
const profile = async () => {
  const page = await (await browser.newContext({ acceptDownloads: true })).newPage();
  report.complaints.push(complaints(page));
  return page;
};
// What the page of the series says of a reader: the sentence, the count of each phase, and what is marked.
const shown = async (page) => page.evaluate(() => ({
  said: document.querySelector(".continue").textContent,
  counts: [...document.querySelectorAll(".phase .mine")].map((one) => one.textContent),
  marked: [...document.querySelectorAll("li[data-progress]:has([aria-pressed=true])")].map((one) => one.dataset.progress).sort(),
}));

const reader = await profile();
for (const url of posts) {
  await reader.goto(url);
  report.early ??= await ids(reader);
  await reader.evaluate(() => document.querySelector("article").lastElementChild.scrollIntoView());
  await reader.waitForFunction((id) => (localStorage.getItem("progress") ?? "").includes(id), await reader.locator("article").getAttribute("data-progress"));
}
await reader.goto(exercise);
await reader.getByRole("button", { name: "Solved" }).click();
report.kept = await ids(reader);

await reader.goto(series);
report.shown = await shown(reader);
await reader.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
await reader.getByRole("button", { name: "Copy a link" }).click();
await reader.waitForFunction(() => globalThis.copied);
const link = await reader.evaluate(() => globalThis.copied);
const saving = reader.waitForEvent("download");
await reader.getByRole("button", { name: "Save a file" }).click();
const file = await (await saving).path();

const byLink = await profile();
await byLink.goto(link);
report.byLink = { kept: await ids(byLink), shown: await shown(byLink), address: byLink.url() };

const byFile = await profile();
await byFile.goto(series);
report.empty = { kept: await ids(byFile), shown: await shown(byFile) };
await byFile.locator("input[type=file]").setInputFiles(file);
await byFile.waitForFunction(() => localStorage.getItem("progress"));
report.byFile = { kept: await ids(byFile), shown: await shown(byFile) };

// The questions: Enter opens the answer, 1 and 2 answer; what was known comes later than what was not.
const asked = () => reader.evaluate(() => document.querySelector(".now .card")?.dataset.card ?? "");
const due = () => reader.evaluate(() => document.querySelector(".due").textContent);
await reader.goto(review);
report.before = await due();
await reader.locator(".now summary").focus();
await reader.keyboard.press("2");
report.closed = await due();
report.cards = [];
for (const key of ["1", "2"]) {
  report.cards.push(await asked());
  await reader.keyboard.press("Enter");
  await reader.keyboard.press(key);
}
report.after = await due();
report.states = await reader.evaluate(() => JSON.parse(localStorage.getItem("review")));
report.today = await reader.evaluate(() => { const day = new Date(); return Math.round(Date.UTC(day.getFullYear(), day.getMonth(), day.getDate()) / 864e5); });
report.focused = await reader.evaluate(() => document.activeElement.textContent);
await reader.evaluate((id) => {
  const states = JSON.parse(localStorage.getItem("review"));
  states[id][1] -= 3;
  localStorage.setItem("review", JSON.stringify(states));
}, report.cards[1]);
await reader.reload();
report.again = await asked();
await reader.locator(".now summary").focus();
await reader.keyboard.press("Enter");
await reader.keyboard.press("2");
report.later = await reader.evaluate((id) => JSON.parse(localStorage.getItem("review"))[id], report.cards[1]);

report.complaints = report.complaints.flat();
await browser.close();
console.log(JSON.stringify(report));
