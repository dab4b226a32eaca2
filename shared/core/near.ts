/** Names that are near to a misspelt one, for hints. Pure. */

/** Single letters to add, drop or replace to make one word the other. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};

/** More letters than a name of a flag, a kind or a Kubernetes object has. */
const longest = 253;

/** Known names that differ by at most three letters, and by less than half of the name; the nearest first. */
export const nearTo = (unknown: string, known: readonly string[]): readonly string[] =>
  unknown.length > longest
    ? []
    : known
        .filter((name) => Math.abs(name.length - unknown.length) <= 3)
        .map((name) => ({ name, far: distance(unknown.toLowerCase(), name.toLowerCase()) }))
        .filter(({ name, far }) => far <= 3 && far * 2 < Math.max(name.length, unknown.length))
        .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
        .map(({ name }) => name);
