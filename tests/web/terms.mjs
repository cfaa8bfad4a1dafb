// {script, words} → the terms of each word, and the number of the file of each term among 256.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const { script, words } = JSON.parse(await text(process.stdin));
const { tokensOf, termsOf, fileNumber } = await import(`data:text/javascript;base64,${readFileSync(script).toString("base64")}`);
const terms = words.map((word) => tokensOf(word).flatMap(termsOf));
console.log(JSON.stringify(terms.map((each) => each.map((term) => [term, fileNumber(term, 256)]))));
