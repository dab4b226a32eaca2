/** Sets of ordinals as short texts: `0-3,7`. A record holds one per task, however many pods the task has. */

export type Ordinals = ReadonlySet<number>;

const shape = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;

/** Five times as many as a job may have pods: a record that names more is none of ours, and to list them takes seconds. */
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

/** Whether these are sets, and few enough together to be listed; nothing is listed for that. */
export const areSets = (texts: readonly string[]): boolean =>
  texts.every((text) => text === "" || shape.test(text)) &&
  texts.reduce((sum, text) => sum + sizeOf(rangesIn(text)), 0) <= most;

/** Reads a set; undefined for what is none. */
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

/** Sets by task; tasks without any are left out. */
export type ByTask = Readonly<Record<string, string>>;

export const ofTask = (sets: ByTask, task: string): Ordinals => ordinalsIn(sets[task] ?? "") ?? new Set();

/** Whether a place is in the sets; made once for many questions. */
export const holderOf = (sets: ByTask): ((place: { readonly task: string; readonly index: number }) => boolean) => {
  const known = new Map(Object.keys(sets).map((task) => [task, ofTask(sets, task)]));
  return ({ task, index }) => known.get(task)?.has(index) === true;
};

/** The sets with what `change` makes of each task's. */
export const changed = (sets: ReadonlyMap<string, Iterable<number>>): ByTask =>
  Object.fromEntries(
    [...sets].flatMap(([task, ordinals]) => {
      const text = ordinalsText(ordinals);
      return text === "" ? [] : [[task, text]];
    }),
  );
