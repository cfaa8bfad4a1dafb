import { launch } from "/work/main/tests/web/browser.mjs";
const browser = await launch();
for (const spec of process.argv.slice(2)) {
  const [path, i, width, scheme] = spec.split(",");
  const page = await browser.newPage({ viewport: { width: +width, height: 1000 }, colorScheme: scheme || "light", deviceScaleFactor: 1.5 });
  await page.goto("http://127.0.0.1:8801/" + path, { waitUntil: "load" });
  await page.evaluate(() => document.querySelectorAll("details").forEach(d => d.open = true));
  const chart = page.locator("svg.chart:not(.spark)").nth(+i - 1);
  await chart.screenshot({ path: `/tmp/charts/${spec.replaceAll("/", "_")}.png` });
  await page.close();
}
await browser.close();
