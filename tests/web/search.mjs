// {base, asks: [[words, kind]]} → what a reader finds who uses nothing but the keyboard.
import { complaints, given, launch } from "./browser.mjs";

const { base, asks } = given();
const browser = await launch();
const page = await browser.newPage();
const report = { complaints: complaints(page), answers: [], before: [] };
const loaded = [];
page.on("request", (request) => loaded.push(request.url()));
const status = () => page.evaluate(() => document.querySelector(".search [role=status]").textContent);
const focused = () => page.evaluate(() => document.activeElement.textContent || document.activeElement.id);

for (const words of asks) {
  await page.goto(base);
  await page.keyboard.press("/");
  await page.waitForURL("**/search/");
  await page.waitForFunction(() => document.activeElement.id === "q");
  if (!report.answers.length) report.before = loaded.filter((url) => /\/search\/.|\/finding\./.test(url));
  await page.keyboard.type(words);
  await page.waitForFunction(() => document.querySelector(".search [role=status]").textContent);
  const said = await status();
  await page.keyboard.press("ArrowDown");
  const first = await focused();
  await page.keyboard.press("Escape");
  const back = await focused();
  const answer = { words, said, first, back };
  if (first !== back) {
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.pathname.includes("/search/"));
    answer.url = page.url();
    await page.goBack();
    await page.waitForFunction(() => document.querySelector(".search li a"));
    answer.kept = await page.evaluate(() => document.querySelector("#q").value);
  }
  report.answers.push(answer);
}

// Of one kind alone, by the arrows of its radio buttons.
await page.goto(`${base}search/?q=softmax`);
await page.waitForFunction(() => document.querySelector(".search li a"));
report.all = await page.evaluate(() => document.querySelectorAll(".search li").length);
await page.keyboard.press("Tab");
await page.keyboard.press("ArrowRight");
await page.keyboard.press("ArrowRight");
await page.keyboard.press("ArrowRight");
await page.waitForURL("**kind=kernels**");
report.kernels = await page.evaluate(() => [...document.querySelectorAll(".search li > small")].map((one) => one.textContent));

// Escape empties the question, and then goes back to where the reader came from.
await page.goto(`${base}about/`);
await page.keyboard.press("/");
await page.waitForFunction(() => document.activeElement.id === "q");
await page.keyboard.type("x");
await page.keyboard.press("Escape");
report.emptied = await page.evaluate(() => document.querySelector("#q").value);
await page.keyboard.press("Escape");
await page.waitForURL("**/about/");
report.left = page.url();

// The last questions, in a browser of their own: asked, asked again, removed, and never more than five.
const fresh = await (await browser.newContext()).newPage();
const complained = complaints(fresh);
const shown = () => fresh.evaluate(() => [...document.querySelectorAll(".search .recent:not([hidden]) .ask")].map((one) => one.textContent));
const stored = () => fresh.evaluate(() => localStorage.getItem("questions"));
const place = () => fresh.evaluate(() => document.activeElement.id || document.activeElement.ariaLabel || document.activeElement.textContent);
const press = async (...keys) => { for (const key of keys) await fresh.keyboard.press(key); };
const questions = async () => (await fresh.goto(`${base}search/`), shown());
const asking = async (words) => {
  await fresh.goto(`${base}search/`);
  await fresh.keyboard.type(words);
  await fresh.waitForFunction(() => document.querySelector(".search [role=status]").textContent);
};
const kept = (report.questions = { first: await questions() });
await asking("softmax");
await press("ArrowDown", "Enter");
await fresh.waitForURL((url) => !url.pathname.includes("/search/"));
kept.followed = await questions();
await asking("pomegranate");
await press("Tab");
kept.left = await questions();
await asking("qqqqxxxx");
await press("Tab");
kept.nothing = await questions();
await press("ArrowDown", "ArrowDown", "ArrowUp", "Enter");
await fresh.waitForFunction(() => document.querySelector(".search li a"));
kept.again = [await fresh.inputValue("#q"), await place(), (await shown()).length];
await press("Escape");
kept.emptied = await shown();
await press("ArrowDown", "ArrowDown", "Delete");
kept.deleted = [await shown(), await place()];
await press("Tab");
kept.cross = await place();
await press("Enter");
kept.removed = [await shown(), await place(), await stored()];
for (const value of ['{"a": 1}', "no JSON", '["1", 2, "3", "4", "5", "6", "7"]']) {
  await fresh.evaluate((text) => localStorage.setItem("questions", text), value);
  (kept.odd ??= []).push(await questions());
}
await asking("quokka");
await press("Tab");
kept.most = await questions();
kept.complaints = complained;
const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
await plain.goto(`${base}search/`);
kept.plain = [await plain.isVisible(".search .recent"), await plain.isVisible("noscript p")];

await browser.close();
console.log(JSON.stringify(report));
