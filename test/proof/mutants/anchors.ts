/**
 * Finds the place of a mutant's edit after a refactoring. The text that it replaces is looked for as it stands; then word by
 * word, so that line breaks and a renamed identifier do not matter; then in the other sources, for a file that has moved.
 */

/** Files by their paths from the root. */
export type Sources = ReadonlyMap<string, string>;

type Edit = {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly calls?: string | undefined;
};

/** A part of a file, and the text that replaces it there. */
export type Place = Edit & { readonly start: number; readonly end: number };

type Token = { readonly text: string; readonly start: number; readonly end: number; readonly isWord: boolean };

/** A word, a number, or one character; a property has its dot, because the rename of a function leaves it alone. */
const token = /(?<!\.)\.[A-Za-z_$][\w$]*|[A-Za-z_$][\w$]*|\d\w*|\S/g;
const word = /^[A-Za-z_$]/;
const closing = /^[)\]}]$/;

const tokensOf = (text: string): readonly Token[] =>
  [...text.matchAll(token)].map(({ 0: found, index }) => ({
    text: found,
    start: index,
    end: index + found.length,
    isWord: word.test(found),
  }));

/** True of the comma that ends a list which a formatter has broken into lines. */
const endsList = (tokens: readonly Token[], at: number): boolean =>
  tokens[at]?.text === "," && closing.test(tokens[at + 1]?.text ?? "");

const keywords = new Set(
  "async await break case catch const continue default else export extends false finally for from function if import in instanceof let new null of return satisfies switch this throw true try type typeof undefined void while yield".split(
    " ",
  ),
);

const mostRenamed = 2;

type Match = { readonly start: number; readonly end: number; readonly renamed: ReadonlyMap<string, string> };

/** Whether a word may be the new name of another, which its file has no more. */
const mayBeRenamed = (wanted: Token, found: Token, renamed: ReadonlyMap<string, string>, words: ReadonlySet<string>) =>
  wanted.isWord &&
  found.isWord &&
  !renamed.has(wanted.text) &&
  renamed.size < mostRenamed &&
  !words.has(wanted.text) &&
  ![wanted, found].some(({ text }) => keywords.has(text));

type Search = {
  readonly tokens: readonly Token[];
  readonly part: readonly Token[];
  readonly words: ReadonlySet<string>;
};

/** Whether a token is the wanted one, by its old or its new name; notes a new name. */
const isWanted = (found: Token, wanted: Token, renamed: Map<string, string>, { words }: Search): boolean => {
  if (found.text === (renamed.get(wanted.text) ?? wanted.text)) return true;
  if (!mayBeRenamed(wanted, found, renamed, words)) return false;
  renamed.set(wanted.text, found.text);
  return true;
};

/** Returns the part of a file that begins with a token and is the wanted one, up to the names of functions. */
const matchAt = (search: Search, from: number): Match | undefined => {
  const { tokens, part } = search;
  const renamed = new Map<string, string>();
  let at = from;
  for (const [index, wanted] of part.entries()) {
    if (endsList(part, index) && tokens[at]?.text !== ",") continue;
    if (endsList(tokens, at) && wanted.text !== ",") at += 1;
    const found = tokens[at];
    if (found === undefined || !isWanted(found, wanted, renamed, search)) return undefined;
    at += 1;
  }
  return { start: tokens[from]?.start ?? 0, end: tokens[at - 1]?.end ?? 0, renamed };
};

const matchesIn = (text: string, part: readonly Token[]): readonly Match[] => {
  const tokens = tokensOf(text);
  const words = new Set(tokens.map((one) => one.text));
  return tokens.flatMap((_, from) => matchAt({ tokens, part, words }, from) ?? []);
};

/** Returns a text with the new names of its words. */
const withNames = (text: string, renamed: ReadonlyMap<string, string>): string =>
  renamed.size === 0 ? text : text.replaceAll(token, (found) => renamed.get(found) ?? found);

type Found = Match & { readonly file: string };

/** The matches with the fewest renamed words. */
const nearest = (found: readonly Found[]): readonly Found[] => {
  const fewest = Math.min(...found.map(({ renamed }) => renamed.size));
  return found.filter(({ renamed }) => renamed.size === fewest);
};

const exactIn = (text: string, find: string): readonly Match[] => {
  const places: Match[] = [];
  for (let at = text.indexOf(find); at >= 0; at = text.indexOf(find, at + 1))
    places.push({ start: at, end: at + find.length, renamed: new Map() });
  return places;
};

type Look = (text: string, find: string) => readonly Match[];

/** The ways to look for a text, the surest first. */
const looks: readonly Look[] = [exactIn, (text, find) => matchesIn(text, tokensOf(find))];

/** Returns where a text stands in the first way that finds it in any of the files. */
const foundIn = (files: Iterable<readonly [string, string]>, find: string): readonly Found[] => {
  const all = [...files];
  for (const look of looks) {
    const found = all.flatMap(([file, text]) => look(text, find).map((match) => ({ ...match, file })));
    if (found.length > 0) return nearest(found);
  }
  return [];
};

/** How many folders and names of a path another path has, too. */
const likeness = (path: string, other: string): number => {
  const parts = new Set(other.split("/"));
  return path.split("/").filter((part) => parts.has(part)).length;
};

/** The files in which a file may be found: itself, or any other once it has gone. */
const within = (file: string, sources: Sources): Iterable<readonly [string, string]> => {
  const text = sources.get(file);
  return text === undefined ? sources : [[file, text]];
};

const failing = (file: string, text: string, times: number): { readonly failure: string } => ({
  failure: `a text of ${file} stands ${times} times: ${JSON.stringify(text.slice(0, 80))}`,
});

/** Returns the place of an edit, or the reason why it has none. Of a file that has gone, the likest path counts. */
export const placeOf = (edit: Edit, sources: Sources): Place | { readonly failure: string } => {
  const { file, find, replace, calls } = edit;
  const found = foundIn(within(file, sources), find);
  const likest = Math.max(...found.map((one) => likeness(file, one.file)));
  const likely = found.filter((one) => likeness(file, one.file) === likest);
  const [one] = likely;
  if (one === undefined || likely.length > 1) return failing(file, find, found.length);
  const called = calls === undefined ? [] : foundIn([[one.file, sources.get(one.file) ?? ""]], calls);
  if (calls !== undefined && called.length !== 1) return failing(one.file, calls, called.length);
  const renamed = new Map([...one.renamed, ...(called[0]?.renamed ?? [])]);
  return { file: one.file, find, replace: withNames(replace, renamed), start: one.start, end: one.end };
};

/** Returns the text of a file with the edit made. */
export const edited = (text: string, { start, end, replace }: Place): string =>
  text.slice(0, start) + replace + text.slice(end);

/** True of texts that differ in their white space at most. */
export const isSameCode = (text: string, other: string): boolean => {
  const [one, two] = [tokensOf(text), tokensOf(other)];
  return one.length === two.length && one.every((each, at) => each.text === two[at]?.text);
};
