// {folder, base, asks: [{words, language?, kind?}]} → what the search of a built site finds, and the bytes that each
// question loads as a server sends them, without a browser.
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { text } from "node:stream/consumers";

const { folder, base, asks } = JSON.parse(await text(process.stdin));
const fileOf = (url) => `${folder}/${new URL(url, "http://localhost/").pathname.slice(base.length)}`;
const asModule = (file) => import(`data:text/javascript;base64,${readFileSync(file).toString("base64")}`);
let loaded = 0;
globalThis.location = new URL("http://localhost/");
globalThis.window = globalThis;
globalThis.fetch = async (url) => {
  const data = readFileSync(fileOf(url));
  loaded += /pagefind$|\.pf_/.test(url) ? data.length : gzipSync(data).length;
  return new Response(data);
};

const page = readFileSync(`${folder}/search/index.html`, "utf8");
const kinds = [...page.matchAll(/value="(\w+)" data-index="\.\.\/([^"]+)"/g)].map(([, kind, path]) => ({ kind, path: base + path }));
const scripts = readdirSync(`${folder}/assets`).filter((name) => /^(search|finding)\..*js$/.test(name));
const { open } = await asModule(`${folder}/assets/${scripts.find((name) => name.startsWith("finding"))}`);
const size = (file) => gzipSync(readFileSync(file)).length;
const before = scripts.reduce((sum, name) => sum + size(`${folder}/assets/${name}`), 0)
  + ["pagefind.js", "pagefind-worker.js"].reduce((sum, name) => sum + size(fileOf(kinds[0].path + name)), 0);

const answers = [];
for (const [at, { words, language = "en", kind = "" }] of asks.entries()) {
  const unseen = (url) => import(`data:text/javascript;base64,${readFileSync(fileOf(url)).toString("base64")}#${at}`);
  loaded = before;
  const ask = await open({ kinds, base, language: () => language }, unseen);
  const { words: understood, found, counts } = await ask(words, kind);
  const pages = await Promise.all(found.slice(0, 10).map((one) => one.data()));
  const sections = pages.map(({ sub_results }) => sub_results.map(({ title, plain_excerpt }) => ({ title, excerpt: plain_excerpt })));
  answers.push({ words, understood, counts, loaded, sections, found: found.slice(0, 10).map(({ url, kind, score }) => ({ url, kind, score })) });
}
process.stdout.write(JSON.stringify(answers), () => process.exit());
