// The address of this project's site, a folder → the pictures of the readme in it, as a reader sees the pages at 1280 px:
// sitegen serve, then CHROME_PATH=… node tests/web/screenshots.mjs http://127.0.0.1:8000/ .github/screenshots
import { launch } from "./browser.mjs";

const PICTURES = [
  { name: "home", path: "", colorScheme: "light" },
  { name: "post", path: "posts/softmax/", colorScheme: "dark", at: "figure:not(.code)" },
  { name: "kernel", path: "kernels/softmax/", colorScheme: "light", at: "#on-ladder" },
];

const [base, folder] = process.argv.slice(2);
const browser = await launch();
for (const { name, path, colorScheme, at } of PICTURES) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme });
  await page.goto(new URL(path, base).href, { waitUntil: "networkidle" });
  if (at) await page.locator(at).first().evaluate((figure) => scrollBy(0, figure.getBoundingClientRect().top - 90));
  await page.screenshot({ path: `${folder}/${name}.png` });
  await page.close();
}
await browser.close();
