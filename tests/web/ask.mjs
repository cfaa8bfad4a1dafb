// {folder, base, asks: [{words, language?, kind?}]} → what the search of a built site finds, and the bytes that each
// question loads as a server sends them, without a browser.
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { text } from "node:stream/consumers";

const { folder, base, asks } = JSON.parse(await text(process.stdin));
const asModule = (file) => import(`data:text/javascript;base64,${readFileSync(file).toString("base64")}`);
const size = (file) => gzipSync(readFileSync(file)).length;
let loaded = 0;
const load = async (path) => {
  const data = readFileSync(`${folder}/${path}`);
  loaded += gzipSync(data).length;
  return new Response(data);
};

const scripts = readdirSync(`${folder}/assets`).filter((name) => /^(search|finding)\..*js$/.test(name));
const { open } = await asModule(`${folder}/assets/${scripts.find((name) => name.startsWith("finding"))}`);
const before = scripts.reduce((sum, name) => sum + size(`${folder}/assets/${name}`), 0);

const answers = [];
for (const { words, language = "en", kind = "" } of asks) {
  loaded = before;
  const ask = await open({ base, language: () => language }, load);
  const { words: understood, found, counts } = await ask(words, kind);
  const sections = (await Promise.all(found.slice(0, 10).map((one) => one.data()))).map((one) => one.sections);
  answers.push({ words, understood, counts, loaded, sections, found: found.slice(0, 10).map(({ url, kind, score }) => ({ url, kind, score })) });
}
process.stdout.write(JSON.stringify(answers), () => process.exit());
