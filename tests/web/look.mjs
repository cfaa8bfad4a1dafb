// {pages: {name: url}, plain} → {name: what there is to find fault with, what is on it and, if `plain`, what without script}.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { complaints, forEach, given, launch } from "./browser.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [1280, 768, 320];
// A width changes what is shown and where, a scheme only its colours: axe looks at the widest and the narrowest page, and
// in dark at its contrast alone.
const LOOKS = [
  { colorScheme: "light", width: 1280, rules: undefined },
  { colorScheme: "light", width: 320, rules: undefined },
  { colorScheme: "dark", width: 1280, rules: ["color-contrast", "link-in-text-block"] },
  { colorScheme: "dark", width: 320, rules: ["color-contrast", "link-in-text-block"] },
];

// What a reader may want of a page.
const contents = () => ({
  text: document.body.textContent.replace(/\s+/g, " "),
  ...Object.fromEntries(["figure", "table", "math", "svg", "img", "pre", "h1, h2, h3"].map((one) => [one, document.querySelectorAll(one).length])),
  links: [...document.querySelectorAll("a[href]")].map((link) => new URL(link.getAttribute("href"), document.baseURI).href),
});

// On a busy machine the network is idle before the page is read to its end.
async function open(page, url) {
  await page.goto(url, { waitUntil: "load" });
  await page.waitForLoadState("networkidle");
}

async function look(browser, url) {
  const context = await browser.newContext({ viewport: { width: WIDTHS[0], height: 900 } });
  const page = await context.newPage();
  const seen = { complaints: complaints(page), axe: [], wide: [], requests: [] };
  page.on("request", (request) => seen.requests.push(/\.(svg|png|webp|avif|jpe?g)$/.test(request.url()) ? "image" : request.resourceType()));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
  await open(page, url);
  seen.requests = [...seen.requests];
  seen.contents = await page.evaluate(contents);
  await page.evaluate(AXE);
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const needed = await page.evaluate(() => document.documentElement.scrollWidth);
    if (needed > width) seen.wide.push(`${width} px: ${needed} px`);
  }
  for (const { colorScheme, width, rules } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    const { violations } = await page.evaluate((runOnly) => axe.run({ resultTypes: ["violations"], runOnly }), rules);
    for (const { id, nodes } of violations) for (const { target, html } of nodes) seen.axe.push(`${colorScheme}, ${width} px: ${id} ${target} ${html.slice(0, 160)}`);
  }
  seen.url = page.url();
  await context.close();
  return seen;
}

async function withoutScript(browser, url) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await open(page, url);
  const found = await page.evaluate(contents);
  found.dead = await page.evaluate(() => [...document.querySelectorAll("input[type=search], button, [hidden]")].filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 120)));
  await context.close();
  return found;
}

const { pages, plain } = given();
const browser = await launch();
const report = {};
await forEach(Object.entries(pages), async ([name, url]) => {
  report[name] = await look(browser, url);
  if (plain) report[name].plain = await withoutScript(browser, url);
});
await browser.close();
console.log(JSON.stringify(report));
