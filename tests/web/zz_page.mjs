import { launch } from "/work/main/tests/web/browser.mjs";
const browser = await launch();
for (const spec of process.argv.slice(2)) {
  const [path, width, scheme, h] = spec.split(",");
  const page = await browser.newPage({ viewport: { width: +width, height: 1000 }, colorScheme: scheme || "light" });
  await page.goto("http://127.0.0.1:8801/" + path, { waitUntil: "networkidle" });
  await page.screenshot({ path: `/tmp/charts/${spec.replaceAll("/", "_")}.png`, clip: {x:0,y:0,width:+width,height:+(h||2200)}, fullPage: true });
  await page.close();
}
await browser.close();
