/** Sets of ordinals as short texts: `0-3,7`. A record holds one per task, however many pods the task has. */

export type Ordinals = ReadonlySet<number>;

const shape = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;

/** No task has more. */
const most = 1_000_000;

/** Reads a set; undefined for what is none. */
export const ordinalsIn = (text: string): Ordinals | undefined => {
  if (text === "") return new Set();
  if (!shape.test(text)) return undefined;
  const found = new Set<number>();
  for (const range of text.split(",")) {
    const [first = 0, last = first] = range.split("-").map(Number);
    if (last > most || found.size > most) return undefined;
    for (let at = first; at <= last; at += 1) found.add(at);
  }
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

/** The sets with what `change` makes of each task's. */
export const changed = (sets: ReadonlyMap<string, Iterable<number>>): ByTask =>
  Object.fromEntries(
    [...sets].flatMap(([task, ordinals]) => {
      const text = ordinalsText(ordinals);
      return text === "" ? [] : [[task, text]];
    }),
  );
