// Words in, pages in order out.  search/pages.json says how pages are called, and the files of terms which pages contain a
// word: names, symbols, the text and the reader's language decide which page comes first.  The terms of a word are those of
// sitegen/render/outputs/search_terms.py.
const WEIGHTS = { posts: 1, terms: 1.2, exercises: 0.8, kernels: 0.5, worklog: 0.4, pages: 0.4 };  // of the text of a page; a term is explained on its own page
const EQUAL = 11, BEGINS = 7, CONTAINS = 5, HAS_ALL = 4;  // scores of a name that has the words asked for
const SYMBOL = 5;  // of a page that contains the symbol asked for, letter by letter
const BODY = 3;    // of the page whose text has the words most
const OTHER_LANGUAGE = 0.3;
const SATURATION = 2, BY_LENGTH = 0.75;  // of BM25: how soon more of the same word counts no more, and how much length counts
const SECTIONS = 3, BEFORE = 60, AFTER = 180;  // characters of a section that are shown around a word
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff";
const TOKEN = new RegExp(`[${UNSPACED}]+|(?:(?![${UNSPACED}])[\\p{L}\\p{N}_])+`, "gu");
const PAIRED = new RegExp(`^[${UNSPACED}]{2,}$`);

const plain = (text) => text.normalize("NFKC").toLowerCase().replace(/['’]/g, "");

// The words of a text, in small letters, without apostrophes and the s of a plural.
export const wordsOf = (text) => (plain(text).match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.replace(/(?<=\w{2}[^s\W])s$/, ""));

export function stem(word) {
  if (!/^[a-z]{4,}$/.test(word)) return word;
  return (word.match(/^([a-z]{3,}?)(?:(?<!e)ed|ings?|i?es|ied|[sey])$/)?.[1] ?? word).replace(/([^aeiou])\1$/, "$1");
}

// The terms of each word of a text; a symbol with underscores has that of the whole first.
export function termsOf(token) {
  if (PAIRED.test(token)) return [...token].slice(1).map((_, at) => token.slice(at, at + 2));
  const parts = token.includes("_") ? token.split("_").filter(Boolean) : [];
  return [...new Set([token, ...parts].map(stem))];
}
export const tokensOf = (text) => plain(text).match(TOKEN) ?? [];

export function fileNumber(term, files) {
  const beginning = term.replace(/^_+/, "");
  let number = 0;
  for (const one of [...beginning].slice(0, beginning >= "\u2e80" ? 1 : 3)) number = (number * 33 + one.codePointAt(0)) % 65521;
  return number % files;
}

// How well a name has the words; the last word may be incomplete, as the reader still types.
export function nameScore(asked, name) {
  const has = (word, last) => (one) => one === word || (last && one.startsWith(word));
  const from = (start) => asked.every((word, at) => name[start + at] !== undefined && has(word, at === asked.length - 1)(name[start + at]));
  if (!asked.length) return 0;
  const share = asked.length / name.length;
  if (from(0)) return asked.length === name.length && asked.at(-1) === name.at(-1) ? EQUAL : BEGINS + share;
  if (name.some((_, at) => from(at))) return CONTAINS + share;
  return asked.every((word, at) => name.some(has(word, at === asked.length - 1))) ? HAS_ALL + share : 0;
}

// The letters to insert, leave out, replace or swap that make one word the other; `most + 1` if they are more.
export function distance(one, other, most) {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let before = [], row = [...other, 0].map((_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] !== other[j - 1]));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) next[j] = Math.min(next[j], before[j - 2] + 1);
    }
    [before, row] = [row, next];
  }
  return Math.min(row[other.length], most + 1);
}

// The known word that differs least, or "" if none is near.
export function nearest(word, known) {
  const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
  let best = "", least = most + 1;
  for (const one of known) {
    const far = one[0] === word[0] ? distance(word, one, most) : most + 1;
    if (far < least) [best, least] = [one, far];
  }
  return best;
}

// `base` is the path of the site; `language` chooses the reader's language among those of the pages.
export async function open({ base, language }, load = (path) => fetch(base + path)) {
  const list = await json("search/pages.json");
  const pages = new Map(list.pages.map(([id, url, kind, lang, length, ...names]) => [id, { id, url, kind, lang, length, names, words: names.map(wordsOf) }]));
  const everyPage = [...pages.values()];
  const names = new Set(everyPage.flatMap((page) => page.words.flat()));
  let headings;
  const mean = everyPage.reduce((sum, page) => sum + page.length, 0) / everyPage.length;
  const spoken = language([...new Set(everyPage.map((page) => page.lang))]);
  const inLanguage = everyPage.some((page) => page.lang === spoken) ? (page) => (page.lang === spoken ? 1 : OTHER_LANGUAGE) : () => 1;  // without a page in it, all alike
  const loaded = new Map();

  async function whole(path) {
    const answer = await load(path);
    if (!answer.ok) throw new Error(path);
    return answer.text();
  }
  async function json(path) {
    return JSON.parse(await whole(path));
  }
  const known = async () => [...names, ...(await (headings ??= whole("search/words.txt"))).split("\n").map((line) => line.split(" ")[0]).filter(Boolean)];
  const begins = (words, part) => words.some((one) => one.startsWith(part));

  function lines(term) {
    const number = fileNumber(term, list.files);
    if (!loaded.has(number)) loaded.set(number, whole(`search/terms/${number}.txt`).then((file) => file.split("\n").map((line) => line.split(" "))));
    return loaded.get(number);
  }

  // The score of each page for a term, and for those that begin with it if it may be `incomplete`.
  async function scored(term, incomplete) {
    const scores = new Map();
    for (const [one, records] of await lines(term)) {
      if (one !== term && !(incomplete && one.startsWith(term))) continue;
      const size = list.pages[0][0].length + 1, found = records.length / size;
      const rare = Math.log(1 + (everyPage.length - found + 0.5) / (found + 0.5)) * (term.length / one.length);
      for (let at = 0; at < records.length; at += size) {
        const id = records.slice(at, at + size - 1), weight = ALPHABET.indexOf(records[at + size - 1]);
        const long = 1 - BY_LENGTH + BY_LENGTH * (pages.get(id).length / mean);
        const score = (rare * weight * (SATURATION + 1)) / (weight + SATURATION * long);
        scores.set(id, Math.max(scores.get(id) ?? 0, score));
      }
    }
    return scores;
  }

  // The pages that have all of the terms.
  function inAll(several) {
    const [first = new Map(), ...others] = several;
    const all = [...first.keys()].filter((id) => others.every((one) => one.has(id)));
    return new Map(all.map((id) => [id, several.reduce((sum, one) => sum + one.get(id), 0)]));
  }
  const ofToken = async (token, incomplete) => inAll(await Promise.all(termsOf(token).map((term) => scored(term, incomplete))));

  // A word that no name begins with is a symbol, which stands in a text as it is or between underscores, or a slip.
  async function meant(word) {
    const parts = wordsOf(word);
    if (!word.includes("_") && parts.every((part) => begins([...names], part))) return { word };
    const words = await known();
    if (!word.includes("_") && parts.every((part) => begins(words, part))) return { word };
    if (tokensOf(word).length === 1) {
      for (const symbol of [word, `__${word}`, `__${word}__`]) {
        const found = await scored(stem(tokensOf(symbol)[0]), false);
        if (found.size) return { word: symbol, symbol: found };
      }
    }
    return { word: nearest(word.toLowerCase(), words) || word };
  }

  async function ask(typed, kind = "") {
    const all = await Promise.all(typed.trim().split(/\s+/).map(meant));
    const understood = all.map((one) => one.word).join(" "), asked = wordsOf(understood), tokens = tokensOf(understood);
    const foreign = (token) => /[^\x00-\x7f]/.test(token);  // Korean words have endings without a space
    const text = inAll(await Promise.all(tokens.map((token, at) => ofToken(token, at === tokens.length - 1 || foreign(token)))));
    const symbols = new Map(all.flatMap((one) => [...(one.symbol ?? [])]));
    const scores = new Map([...symbols, ...text].map(([id, score]) => [id, score * WEIGHTS[pages.get(id).kind]]));
    const most = (those) => Math.max(...[...those].map((id) => scores.get(id)), 1e-9);
    const mostOfAll = most(scores.keys()), mostOfSymbol = most(symbols.keys());
    const found = [];
    for (const page of everyPage) {
      const named = Math.max(...page.words.map((name) => nameScore(asked, name)));
      if (!named && !scores.has(page.id)) continue;
      const score = scores.get(page.id) ?? 0;
      const symbol = symbols.has(page.id) ? SYMBOL * (1 + score / mostOfSymbol) : 0;
      const total = (named + symbol + (BODY * score) / mostOfAll) * inLanguage(page);
      found.push({ ...page, score: total, data: () => dataOf(page, tokens) });
    }
    found.sort((one, other) => other.score - one.score || (one.url < other.url ? -1 : 1));
    const counts = {};
    for (const one of found) counts[one.kind] = (counts[one.kind] ?? 0) + 1;
    return { words: understood, counts, found: kind ? found.filter((one) => one.kind === kind) : found };
  }

  // What is shown of a page: the sections that have most of the words, in the order of the page.
  async function dataOf(page, tokens) {
    const { title, sections } = await json(`search/texts/${page.url}${/^$|\/$/.test(page.url) ? "index.html" : ""}.json`);
    const wanted = marker(tokens);
    const each = sections.map(([anchor, heading, text], at) => ({ at, anchor, heading, text, places: placesOf(text, wanted), named: placesOf(heading, wanted).length }));
    const best = each.filter((one) => one.text && one.places.length + one.named).sort((one, other) => weight(other) - weight(one) || one.at - other.at).slice(0, SECTIONS);
    const shown = (best.length ? best : each.filter((one) => one.text).slice(0, 1)).sort((one, other) => one.at - other.at);
    const url = base + page.url;
    return { url, title, sections: shown.map((one) => ({ url: one.anchor ? `${url}#${one.anchor}` : url, title: one.heading, excerpt: excerpt(one) })) };
  }
  return ask;
}

const weight = (section) => new Set(section.places.map((one) => one.term)).size * 100 + section.named * 20 + Math.min(section.places.length, 19);

// A function that returns the term asked for that a word of a text has, or undefined.  Of a symbol it is that of the whole.
function marker(tokens) {
  const terms = tokens.flatMap((token) => (token.includes("_") ? [stem(token)] : termsOf(token))), last = terms.at(-1);
  const asked = (one) => terms.find((term) => one === term) ?? (last && one.startsWith(last) ? last : undefined);
  return (word) => [word, ...word.split(/(?<=[a-z])(?=[A-Z])/)].flatMap((one) => termsOf(plain(one))).map(asked).find(Boolean);
}

// Where the words of a text stand that are asked for.
function placesOf(text, wanted) {
  return [...text.matchAll(TOKEN)].flatMap(({ 0: word, index }) => {
    const term = wanted(word);
    return term ? [{ term, from: index, to: index + word.length }] : [];
  });
}

// The part of a section with most of the words, as pieces of text: [text, whether it is a word asked for].
function excerpt({ text, places }) {
  const within = (from) => new Set(places.filter((one) => one.from >= from && one.to <= from + AFTER).map((one) => one.term)).size;
  const [best] = places.map((one) => one.from).sort((one, other) => within(other) - within(one) || one - other);
  const wish = Math.max((best ?? 0) - BEFORE, 0);
  const from = wish ? text.indexOf(" ", wish) + 1 : 0, end = text.indexOf(" ", from + BEFORE + AFTER), to = end < 0 ? text.length : end;
  const pieces = [];
  let at = from;
  for (const one of places.filter((one) => one.from >= from && one.to <= to)) {
    pieces.push([text.slice(at, one.from), false], [text.slice(one.from, one.to), true]);
    at = one.to;
  }
  pieces.push([text.slice(at, to), false]);
  return [[from ? "… " : "", false], ...pieces, [to < text.length ? " …" : "", false]].filter(([piece]) => piece);
}
