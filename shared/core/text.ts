/**
 * Texts for people: one line without control characters, a number with its noun, and the known name that is close to a
 * misspelt one.
 */

/**
 * Joins the lines of a text by spaces, trimmed, without empty ones. A regular expression would take quadratic time on
 * many blanks.
 */
export const oneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");

/**
 * Characters that a reader does not see, and a terminal or a viewer of logs may obey, except line ends and tabs: control
 * and format characters, among them marks of direction; separators of lines and paragraphs; halves of characters.
 */
const steering = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Escapes such characters as JSON does, because the text may come from any author of an object. */
export const visible = (text: string): string => text.replace(steering, (one) => one.split("").map(escaped).join(""));

/**
 * Returns the first characters of a text, for values that are kept: V8 keeps the whole text in memory as long as a slice
 * of it exists, and this copy keeps nothing of the rest.
 */
export const startOf = (text: string, most: number): string =>
  text.length <= most ? text : String(JSON.parse(JSON.stringify(text.slice(0, most))));

/** The message of an error; the text of anything else that was thrown. */
export const errorText = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Returns the edit distance of two words: letters to add, drop or replace, and neighbours to swap. */
const distance = (a: string, b: string): number => {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      const swaps = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j];
      const swapped = swaps ? (before[j - 1] ?? 0) + 1 : replaced;
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, replaced, swapped));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
};

/** Longest name that is compared, characters: no flag, kind or Kubernetes object has a longer one. */
const longest = 253;

/**
 * Returns the known names that differ by at most three letters, and by less than half of the name; the nearest first.
 */
export const nearTo = (unknown: string, known: readonly string[]): readonly string[] =>
  unknown.length > longest
    ? []
    : known
        .filter((name) => Math.abs(name.length - unknown.length) <= 3)
        .map((name) => ({ name, far: distance(unknown.toLowerCase(), name.toLowerCase()) }))
        .filter(({ name, far }) => far <= 3 && far * 2 < Math.max(name.length, unknown.length))
        .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
        .map(({ name }) => name);
