/** Sets of ordinals as short texts: `0-3,7`. A record holds one per task, however many pods the task has. */

export type Ordinals = ReadonlySet<number>;

const shape = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;

/** The most ordinals in a record, five times the most pods of a job: a longer list is foreign and takes seconds. */
const most = 100_000;

type Range = readonly [first: number, last: number];

const rangesIn = (text: string): readonly Range[] =>
  text === ""
    ? []
    : text.split(",").map((range): Range => {
        const [first = 0, last = first] = range.split("-").map(Number);
        return [first, last];
      });

const sizeOf = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, [first, last]) => sum + Math.max(0, last - first + 1), 0);

/** True if all texts are sets that together hold at most `most` ordinals; counts them without listing them. */
export const areSets = (texts: readonly string[]): boolean =>
  texts.every((text) => text === "" || shape.test(text)) &&
  texts.reduce((sum, text) => sum + sizeOf(rangesIn(text)), 0) <= most;

/** Reads a set; returns undefined if the text is not a set or holds too many ordinals. */
export const ordinalsIn = (text: string): Ordinals | undefined => {
  if (!areSets([text])) return undefined;
  const found = new Set<number>();
  for (const [first, last] of rangesIn(text)) for (let at = first; at <= last; at += 1) found.add(at);
  return found;
};

export const ordinalsText = (ordinals: Iterable<number>): string => {
  const ranges: [number, number][] = [];
  for (const at of [...ordinals].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === at) last[1] = at;
    else ranges.push([at, at]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
};

/** Sets by task; tasks with an empty set are left out. */
export type ByTask = Readonly<Record<string, string>>;

export const ofTask = (sets: ByTask, task: string): Ordinals => ordinalsIn(sets[task] ?? "") ?? new Set();

/** Returns a test whether a task's ordinal is in the sets. It parses the sets once for many tests. */
export const holderOf = (sets: ByTask): ((place: { readonly task: string; readonly index: number }) => boolean) => {
  const known = new Map(Object.keys(sets).map((task) => [task, ofTask(sets, task)]));
  return ({ task, index }) => known.get(task)?.has(index) === true;
};

/** Writes the ordinals of each task as a text; tasks with an empty set are left out. */
export const changed = (sets: ReadonlyMap<string, Iterable<number>>): ByTask =>
  Object.fromEntries(
    [...sets].flatMap(([task, ordinals]) => {
      const text = ordinalsText(ordinals);
      return text === "" ? [] : [[task, text]];
    }),
  );
