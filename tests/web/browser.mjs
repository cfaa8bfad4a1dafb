// What the scripts here share: Chromium, JSON in and out, and work for several pages at a time.
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { chromium } from "playwright-core";

export const given = () => JSON.parse(readFileSync(0, "utf8"));
export const launch = (...args) => chromium.launch({ executablePath: process.env.CHROME_PATH, args: ["--no-sandbox", ...args] });

export async function forEach(items, work) {
  const waiting = [...items];
  const worker = async () => { while (waiting.length) await work(waiting.shift()); };
  await Promise.all(Array.from({ length: Math.min(cpus().length, 4) }, worker));
}

// Everything that a browser complains of, as it comes; a list that goes on growing.
export function complaints(page) {
  const found = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) found.push(`console: ${message.text()} ${message.location().url}`); });
  page.on("pageerror", (error) => found.push(`script: ${error.message}`));
  const left = "net::ERR_ABORTED";  // the reader went on before it came
  page.on("requestfailed", (request) => request.failure().errorText !== left && found.push(`request: ${request.url()} ${request.failure().errorText}`));
  return found;
}
