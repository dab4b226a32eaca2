/**
 * Counts the steps that work takes, without timing: the runs of each block of code, by V8's own count, and the lengths
 * that built-in functions read of texts and lists. Regular expressions count the text that they read once:
 * test/proof/house/expressions proves that they are linear.
 */
import { Session } from "node:inspector";

type Count = { steps: number };

type Method = (this: unknown, ...args: readonly unknown[]) => unknown;

const isMethod = (value: unknown): value is Method => typeof value === "function";

const lengthOf = (value: unknown): number => {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return 0;
};

/** Methods that count by the length of their receiver and of their result. */
const texts = ["indexOf", "lastIndexOf", "includes", "split", "replace", "replaceAll", "match", "matchAll", "search"];
const whole = ["trim", "trimEnd", "trimStart", "toLowerCase", "toUpperCase", "normalize", "repeat", "concat", "padEnd"];
const lists = [
  "includes",
  "indexOf",
  "lastIndexOf",
  "concat",
  "join",
  "reverse",
  "slice",
  "splice",
  "shift",
  "unshift",
];
const sorted = ["sort", "toSorted", "flat", "fill", "with", "toSpliced"];

/** The length that was read: a search that begins behind the start, or ends before the end, reads the part between. */
const readBy = (length: number, found: unknown, from: unknown): number => {
  if (typeof found === "string") return length + found.length;
  const [begins, ends] = [
    typeof from === "number" ? from : 0,
    typeof found === "number" && found >= 0 ? found + 1 : length,
  ];
  return Math.max(0, ends - begins);
};

const counting = (target: object, names: readonly string[], count: Count): (() => void) => {
  const before = names.flatMap((name) => {
    const method: unknown = Reflect.get(target, name);
    return isMethod(method) ? [[name, method] as const] : [];
  });
  for (const [name, method] of before)
    Reflect.set(target, name, function (this: unknown, ...args: readonly unknown[]) {
      const found = Reflect.apply(method, this, args);
      count.steps += readBy(lengthOf(this), found, args[1]);
      return found;
    });
  return () => {
    for (const [name, method] of before) Reflect.set(target, name, method);
  };
};

/** Counts the fields that `Object` and `JSON` visit. */
const walking = (
  target: object,
  names: readonly string[],
  count: Count,
  sizeOf: (given: unknown, found: unknown) => number,
) => {
  const before = names.flatMap((name) => {
    const method: unknown = Reflect.get(target, name);
    return isMethod(method) ? [[name, method] as const] : [];
  });
  for (const [name, method] of before)
    Reflect.set(target, name, (...args: readonly unknown[]) => {
      const found = Reflect.apply(method, target, args);
      count.steps += sizeOf(args[0], found);
      return found;
    });
  return () => {
    for (const [name, method] of before) Reflect.set(target, name, method);
  };
};

const coverage = (session: Session): number => {
  let steps = 0;
  session.post("Profiler.takePreciseCoverage", (_, answer) => {
    for (const { functions } of answer.result)
      for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  });
  return steps;
};

export type Counter = { readonly stepsOf: (work: () => unknown) => number; readonly close: () => void };

/** Opens a counter for this process. Work that throws counts, too. */
export const openCounter = (): Counter => {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const stepsOf = (work: () => unknown): number => {
    const count: Count = { steps: 0 };
    coverage(session);
    const undo = [
      counting(String.prototype, [...texts, ...whole], count),
      counting(Array.prototype, [...lists, ...sorted], count),
      walking(Object, ["keys", "values", "entries", "fromEntries"], count, (given, found) =>
        Math.max(lengthOf(given), lengthOf(found)),
      ),
      walking(JSON, ["parse", "stringify"], count, (given, found) => Math.max(lengthOf(given), lengthOf(found))),
    ];
    try {
      work();
    } catch {
      // A call that throws has read its input as well.
    } finally {
      for (const back of undo) back();
    }
    const ran = coverage(session);
    return ran + count.steps;
  };
  return {
    stepsOf,
    close: () => {
      session.post("Profiler.stopPreciseCoverage");
      session.disconnect();
    },
  };
};
