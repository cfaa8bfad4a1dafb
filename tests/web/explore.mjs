// {url, term} of a post with a figure to explore and a link to a term → what a reader gets by keyboard, pointer, in print, without script.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { complaints, given, launch } from "./browser.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { url, term } = given();
const browser = await launch();

const figure = () => {
  const knob = document.querySelector(".knob"), slider = knob.querySelector("input"), seen = (one) => one.checkVisibility();
  return {
    shown: [...document.querySelectorAll("[data-x]")].filter(seen).map((one) => one.dataset.x),
    value: knob.querySelector("b").textContent,
    spoken: slider.getAttribute("aria-valuetext"),
    said: knob.querySelector("output").textContent,
    words: document.querySelector("[data-x]:not([hidden]) svg").getAttribute("aria-label"),
    slider: seen(slider),
    rows: [...document.querySelectorAll("figure:has(> .knob) tbody tr")].filter((row) => row.getClientRects().length).length,
  };
};
const preview = () => {
  const box = document.querySelector("#preview");
  return { open: box.checkVisibility(), text: box.textContent, pictures: box.querySelectorAll("svg").length, describes: document.querySelector("[aria-describedby=preview]")?.textContent ?? "" };
};
const opened = (page) => page.waitForFunction(() => document.querySelector("#preview").checkVisibility());
const closed = (page) => page.waitForFunction(() => !document.querySelector("#preview").checkVisibility());

async function tabTo(page, selector) {
  for (let at = 0; at < 200; at++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return true;
  }
  return false;
}

const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const report = { complaints: complaints(page), keys: [] };
await page.goto(url);
report.reached = await tabTo(page, ".knob input");
for (const key of ["", "ArrowRight", "End", "ArrowLeft", "Home"]) {
  if (key) await page.keyboard.press(key);
  report.keys.push({ key, ...(await page.evaluate(figure)) });
}
await page.keyboard.press("ArrowRight");
await page.emulateMedia({ media: "print" });
report.print = await page.evaluate(figure);
await page.emulateMedia({ media: "screen" });

// The pointer: from the link into the definition, and away.
const link = page.locator(`a[href$="${term}"]`).first();
await link.scrollIntoViewIfNeeded();
await link.hover();
await opened(page);
report.hovered = await page.evaluate(preview);
await page.evaluate(AXE);
report.axe = await page.evaluate(async () => (await axe.run()).violations.map(({ id }) => id));
await page.locator("#preview p").hover();
await page.waitForTimeout(500);
report.within = await page.evaluate(preview);
await page.keyboard.press("Escape");
report.escaped = await page.evaluate(preview);
await page.mouse.move(1270, 5);
await link.hover();
await opened(page);
await page.mouse.move(1270, 5);
await closed(page);

// The keyboard: the definition stays as long as its link has the focus.
await page.reload();
report.tabbed = await tabTo(page, `a[href$="${term}"]`);
await opened(page);
await page.waitForTimeout(500);
report.focused = await page.evaluate(preview);
await page.keyboard.press("Escape");
report.dismissed = await page.evaluate(preview);
await page.keyboard.press("Shift+Tab");
await page.keyboard.press("Tab");
await opened(page);
await page.keyboard.press("Tab");
await closed(page);
report.left = await page.evaluate(preview);
await page.close();

const plain = await browser.newPage({ javaScriptEnabled: false });
await plain.goto(url);
report.still = await plain.evaluate(figure);
await plain.locator(`a[href$="${term}"]`).first().click();
report.followed = plain.url();
await browser.close();
console.log(JSON.stringify(report));
