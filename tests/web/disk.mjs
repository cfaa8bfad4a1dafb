// {folder} → a walk through a site that no server serves: from its home page to a post by a click, and back.
import { pathToFileURL } from "node:url";
import { complaints, given, launch } from "./browser.mjs";

const { folder } = given();
const browser = await launch();
const page = await browser.newPage();
const report = { complaints: complaints(page), walked: [] };
const note = async () => report.walked.push(await page.evaluate(() => ({
  at: location.pathname.split("/").slice(-3).join("/"),
  title: document.querySelector("h1").textContent.trim(),
  styled: getComputedStyle(document.querySelector(".masthead")).display === "flex",
})));

await page.goto(pathToFileURL(`${folder}/index.html`).href);
await note();
for (const selector of ["main a[href*='posts/everything']", ".masthead a[href*='kernels']", "a.brand"]) {
  await page.click(selector);
  await page.waitForLoadState("load");
  await note();
}
// A font is not given to pages without an origin: formulas on a disk stand in a font of the system.
report.complaints = report.complaints.filter((complaint) => !/math\.\w+\.woff2/.test(complaint));
await browser.close();
console.log(JSON.stringify(report));
