/**
 * What an application may ask for by annotation, beyond upstream: every timeout and policy once, with its default and its
 * range. Parsing, messages and the command line follow from this table.
 */
import type { Stored } from "../../core/object.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

type Row = { readonly annotation: string; readonly meaning: string };

/** From `least` to `most`, ms; no default: off. */
export type Span = Row & {
  readonly form: "duration";
  readonly default?: number;
  readonly least: number;
  readonly most: number;
};

/** One of the words; the first is the default. */
export type Choice<Word extends string = string> = Row & {
  readonly form: "choice";
  readonly words: readonly [Word, ...Word[]];
};

export const spans = {
  driverStartMs: {
    form: "duration",
    annotation: "rekindle.dev/driver-start-timeout",
    least: 10 * second,
    most: 24 * hour,
    meaning: "a driver that is not running so long after its pod was made is ended, and its run has failed",
  },
  executorStartMs: {
    form: "duration",
    annotation: "rekindle.dev/executor-start-timeout",
    least: 10 * second,
    most: 24 * hour,
    meaning: "a run of which no executor is running so long after its driver's start has failed",
  },
  backoffMaxMs: {
    form: "duration",
    annotation: "rekindle.dev/retry-backoff-max",
    default: 5 * minute,
    least: second,
    most: 24 * hour,
    meaning: "the longest wait before a retry, when it grows exponentially",
  },
  goodRunMs: {
    form: "duration",
    annotation: "rekindle.dev/retry-reset-after",
    default: 10 * minute,
    least: second,
    most: 168 * hour,
    meaning: "a run that lasted so long is a good one: the next wait is the first again",
  },
} as const satisfies Readonly<Record<string, Span>>;

export const choices = {
  backoff: {
    form: "choice",
    annotation: "rekindle.dev/retry-backoff",
    words: ["linear", "exponential"],
    meaning:
      "how the wait before a retry grows: as upstream's, from the start of the failed run; or doubling from its end",
  },
  restartOn: {
    form: "choice",
    annotation: "rekindle.dev/restart-on",
    words: ["policy", "infrastructure"],
    meaning:
      "infrastructure: preemption, eviction, a lost node or driver, an image that cannot be pulled spend no retry",
  },
} as const satisfies Readonly<Record<string, Choice>>;

type Word<Name extends keyof typeof choices> = (typeof choices)[Name]["words"][number];

export type Policies = {
  readonly driverStartMs: number | undefined;
  readonly executorStartMs: number | undefined;
  readonly backoffMaxMs: number;
  readonly goodRunMs: number;
  readonly backoff: Word<"backoff">;
  readonly restartOn: Word<"restartOn">;
};

const units = [
  ["d", 24 * hour],
  ["h", hour],
  ["m", minute],
  ["s", second],
] as const;

/** A span as people write it: `90s`, `5m`, `2h`, `1d`. */
const msOf = (text: string): number | undefined => {
  const [, amount, unit] = /^(\d{1,9})([dhms])$/.exec(text.trim()) ?? [];
  const size = units.find(([name]) => name === unit)?.[1];
  return amount === undefined || size === undefined ? undefined : Number(amount) * size;
};

/** In its largest whole unit. */
export const spanText = (ms: number): string => {
  const [unit, size] = units.find((one) => ms >= one[1] && ms % one[1] === 0) ?? units[3];
  return `${ms / size}${unit}`;
};

type Read<Value> = { readonly value: Value; readonly problem?: string };

const problemOf = ({ annotation }: Row, given: string, wanted: string, held: string): string =>
  `metadata.annotations[${annotation}]: ${JSON.stringify(given.slice(0, 100))} is not ${wanted}; ${held} holds`;

const readSpan = <Default extends number | undefined>(
  row: Span,
  fallback: Default,
  given: string | undefined,
): Read<number | Default> => {
  if (given === undefined) return { value: fallback };
  const ms = msOf(given);
  if (ms !== undefined && ms >= row.least && ms <= row.most) return { value: ms };
  const wanted = `a duration from ${spanText(row.least)} to ${spanText(row.most)}, such as 90s or 5m`;
  const held = fallback === undefined ? "no limit" : `the default of ${spanText(fallback)}`;
  return { value: fallback, problem: problemOf(row, given, wanted, held) };
};

const readChoice = <Name extends string>(row: Choice<Name>, given: string | undefined): Read<Name> => {
  const [first] = row.words;
  if (given === undefined) return { value: first };
  const word = row.words.find((one) => one === given.trim());
  if (word !== undefined) return { value: word };
  return { value: first, problem: problemOf(row, given, `one of ${row.words.join(", ")}`, `the default of ${first}`) };
};

/** What the annotations ask for; what is out of range is told, and the default holds. */
export const policiesOf = ({
  metadata: { annotations = {} },
}: Pick<Stored, "metadata">): { readonly policies: Policies; readonly problems: readonly string[] } => {
  const given = (row: Row): string | undefined => annotations[row.annotation];
  const { driverStartMs, executorStartMs, backoffMaxMs, goodRunMs } = spans;
  const read = {
    driverStartMs: readSpan(driverStartMs, undefined, given(driverStartMs)),
    executorStartMs: readSpan(executorStartMs, undefined, given(executorStartMs)),
    backoffMaxMs: readSpan(backoffMaxMs, backoffMaxMs.default, given(backoffMaxMs)),
    goodRunMs: readSpan(goodRunMs, goodRunMs.default, given(goodRunMs)),
    backoff: readChoice<Word<"backoff">>(choices.backoff, given(choices.backoff)),
    restartOn: readChoice<Word<"restartOn">>(choices.restartOn, given(choices.restartOn)),
  };
  const problems = Object.values(read).flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  return {
    policies: {
      driverStartMs: read.driverStartMs.value,
      executorStartMs: read.executorStartMs.value,
      backoffMaxMs: read.backoffMaxMs.value,
      goodRunMs: read.goodRunMs.value,
      backoff: read.backoff.value,
      restartOn: read.restartOn.value,
    },
    problems,
  };
};

export type Line = Readonly<Record<"annotation" | "default" | "range" | "meaning", string>>;

/** The table as people read it. */
export const policyLines = (): readonly Line[] => [
  ...Object.values(spans).map((row: Span) => ({
    annotation: row.annotation,
    default: row.default === undefined ? "off" : spanText(row.default),
    range: `${spanText(row.least)} to ${spanText(row.most)}`,
    meaning: row.meaning,
  })),
  ...Object.values(choices).map((row: Choice) => ({
    annotation: row.annotation,
    default: row.words[0],
    range: row.words.join(", "),
    meaning: row.meaning,
  })),
];
