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

await browser.close();
console.log(JSON.stringify(report));
