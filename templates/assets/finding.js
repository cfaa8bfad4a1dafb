// Words in, pages in order out.  Pagefind finds the pages that contain the words; names.json beside each index says how
// pages are called, and names, symbols and the reader's language decide which page comes first.
const WEIGHTS = { posts: 1, terms: 1, exercises: 0.8, kernels: 0.5, worklog: 0.4, pages: 0.1 };  // of the text of a page: a
// word is rare, and so counts for more, in the small index of the other pages, most of which are lists
const EQUAL = 10, BEGINS = 7, CONTAINS = 5, HAS_ALL = 4;  // scores of a name that has the words asked for
const SYMBOL = 5;  // of a page that contains the symbol asked for, letter by letter
const BODY = 3;    // of the page whose text has the words most
const OTHER_LANGUAGE = 0.3;

// The words of a text, in small letters, without apostrophes and the s of a plural.
export const wordsOf = (text) =>
  (text.normalize("NFKC").toLowerCase().replace(/['’]/g, "").match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.replace(/(?<=\w{2}[^s\W])s$/, ""));

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

// `kinds` are {kind, path} of each index, the first beside Pagefind's program; `base` is the path of the site; `language`
// chooses the reader's language among those of the pages.
export async function open({ kinds, base, language }, load = (url) => import(url)) {
  const [first, ...others] = kinds;
  const options = (one) => ({ basePath: one.path, baseUrl: base, mergeFilter: { type: one.kind } });
  const [program, ...lists] = await Promise.all([load(`${first.path}pagefind.js`), ...kinds.map(namesIn)]);
  await program.options(options(first));
  await Promise.all(others.map((one) => program.mergeIndex(one.path, options(one))));
  return finder(program, lists, language([...new Set(lists.flatMap((one) => one.pages).map((page) => page.lang))]));
}

async function namesIn({ kind, path }) {
  const { pages, words } = await (await fetch(`${path}names.json`)).json();
  return { words, pages: Object.entries(pages).map(([id, [url, lang, ...names]]) => ({ id, kind, url, lang, names, words: names.map(wordsOf) })) };
}

function finder(program, lists, language) {
  const pages = new Map(lists.flatMap((one) => one.pages).map((page) => [page.id, page]));
  const known = [...new Set([...[...pages.values()].flatMap((page) => page.words.flat()), ...lists.flatMap((one) => one.words)])];
  const exactly = async (word) => (await program.search(`"${word}"`)).results;

  // A word that no name begins with is a symbol, which stands in a text as it is or between underscores, or a slip.
  async function meant(word) {
    const plain = wordsOf(word);
    if (!plain.length || plain.every((part) => known.some((one) => one.startsWith(part)))) {
      if (!/_/.test(word)) return { word };
    }
    for (const symbol of [word, `__${word}`, `__${word}__`]) {
      const results = await exactly(symbol);
      if (results.length) return { word: symbol, symbol: results };
    }
    return { word: nearest(word.toLowerCase(), known) || word };
  }

  // The reader's language first; without a page in it, the site's.
  const spoken = [...pages.values()].some((page) => page.lang === language);
  const inLanguage = (page) => !spoken || page.lang === language ? 1 : OTHER_LANGUAGE;

  return async function ask(typed, kind = "") {
    const all = await Promise.all(typed.trim().split(/\s+/).map(meant));
    const words = all.map((one) => one.word).join(" ");
    const { results } = await program.search(words);
    const symbols = new Map(all.flatMap((one) => one.symbol ?? []).map((one) => [one.id, one]));
    const body = new Map([...symbols, ...results.map((one) => [one.id, one])]);
    const scores = new Map([...body.values()].map((one) => [one.id, one.score * (WEIGHTS[pages.get(one.id).kind] ?? 1)]));
    const most = (those) => Math.max(...[...those].map((id) => scores.get(id)), 1e-9);
    const mostOfAll = most(scores.keys()), mostOfSymbol = most(symbols.keys()), asked = wordsOf(words);
    const found = [];
    for (const page of pages.values()) {
      const named = Math.max(...page.words.map((name) => nameScore(asked, name)));
      if (!named && !body.has(page.id)) continue;
      const score = scores.get(page.id) ?? 0;
      const symbol = symbols.has(page.id) ? SYMBOL * (1 + score / mostOfSymbol) : 0;
      const total = (named + symbol + (BODY * score) / mostOfAll) * inLanguage(page);
      found.push({ ...page, score: total, data: () => dataOf(page, body.get(page.id)) });
    }
    found.sort((one, other) => other.score - one.score || (one.url < other.url ? -1 : 1));
    const counts = {};
    for (const one of found) counts[one.kind] = (counts[one.kind] ?? 0) + 1;
    return { words, counts, found: kind ? found.filter((one) => one.kind === kind) : found };
  };

  // A page found by its name alone is asked for by its title, because Pagefind gives only what it found.
  async function dataOf(page, result) {
    result ??= (await program.search(page.names[0])).results.find((one) => one.id === page.id);
    return result.data();
  }
}
