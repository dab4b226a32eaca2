/** What the annotations of an application ask for, read with the tables of annotations.ts. */
import type { Stored } from "../../core/object.ts";
import { isListener, listenerAnnotation, listenerForms } from "../../core/sink.ts";
import { type Choice, type Count, choices, counts, type Row, type Span, spans, units } from "./annotations.ts";

/** Read by the engine, of every kind; here it is judged, and shown. */
const listener = {
  annotation: listenerAnnotation,
  meaning: "who is told of every change of state, again and again until it has answered",
} as const satisfies Row;

const listenerProblems = (given: string | undefined): readonly string[] =>
  given === undefined || isListener(given.trim()) ? [] : [problemOf(listener, given, listenerForms, "silence")];

type Word<Name extends keyof typeof choices> = (typeof choices)[Name]["words"][number];

export type Policies = {
  readonly driverStartMs: number | undefined;
  readonly executorStartMs: number | undefined;
  readonly backoffMaxMs: number;
  readonly goodRunMs: number;
  readonly returnMs: number | undefined;
  readonly executorIntervalMs: number | undefined;
  readonly registrationMs: number;
  readonly pendingMs: number;
  readonly pendingMaxMs: number;
  readonly nodeGraceMs: number;
  readonly goneMs: number;
  readonly silenceMs: number;
  readonly stallMs: number;
  readonly retentionMs: number;
  readonly executorBatch: number | undefined;
  readonly executorMaxPending: number | undefined;
  readonly executors: Word<"executors">;
  readonly executorScaleDown: Word<"executorScaleDown">;
  readonly onExecutorsGone: Word<"onExecutorsGone">;
  readonly onDriverHang: Word<"onDriverHang">;
  readonly unreachableExecutors: Word<"unreachableExecutors">;
  readonly backoff: Word<"backoff">;
  readonly restartOn: Word<"restartOn">;
};

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
  const held = fallback === undefined ? (row.otherwise ?? "no limit") : `the default of ${spanText(fallback)}`;
  return { value: fallback, problem: problemOf(row, given, wanted, held) };
};

const readChoice = <Name extends string>(row: Choice<Name>, given: string | undefined): Read<Name> => {
  const [first] = row.words;
  if (given === undefined) return { value: first };
  const word = row.words.find((one) => one === given.trim());
  if (word !== undefined) return { value: word };
  return { value: first, problem: problemOf(row, given, `one of ${row.words.join(", ")}`, `the default of ${first}`) };
};

const readCount = (row: Count, given: string | undefined): Read<number | undefined> => {
  if (given === undefined) return { value: undefined };
  const value = /^\d{1,9}$/.test(given.trim()) ? Number(given) : 0;
  if (value >= row.least && value <= row.most) return { value };
  const wanted = `a whole number from ${row.least} to ${row.most}`;
  return { value: undefined, problem: problemOf(row, given, wanted, "the default") };
};

/** Reads rows one by one, and gathers what is wrong with them. */
const reader = (annotations: Readonly<Record<string, string>>) => {
  const problems: string[] = [];
  const take = <Value>({ value, problem }: Read<Value>): Value => {
    if (problem !== undefined) problems.push(problem);
    return value;
  };
  const given = (row: Row): string | undefined => annotations[row.annotation];
  return {
    problems,
    span: (row: Span): number | undefined => take(readSpan(row, row.default, given(row))),
    fixed: (row: Span & { readonly default: number }): number => take(readSpan(row, row.default, given(row))),
    count: (row: Count): number | undefined => take(readCount(row, given(row))),
    choice: <Name extends string>(row: Choice<Name>): Name => take(readChoice(row, given(row))),
  };
};

/** What the annotations ask for; what is out of range is told, and the default holds. */
export const policiesOf = ({
  metadata: { annotations = {} },
}: Pick<Stored, "metadata">): { readonly policies: Policies; readonly problems: readonly string[] } => {
  const { span, fixed, count, choice, problems } = reader(annotations);
  const policies: Policies = {
    driverStartMs: span(spans.driverStartMs),
    executorStartMs: span(spans.executorStartMs),
    backoffMaxMs: fixed(spans.backoffMaxMs),
    goodRunMs: fixed(spans.goodRunMs),
    returnMs: span(spans.returnMs),
    executorIntervalMs: span(spans.executorIntervalMs),
    registrationMs: fixed(spans.registrationMs),
    pendingMs: fixed(spans.pendingMs),
    pendingMaxMs: fixed(spans.pendingMaxMs),
    nodeGraceMs: fixed(spans.nodeGraceMs),
    goneMs: fixed(spans.goneMs),
    silenceMs: fixed(spans.silenceMs),
    stallMs: fixed(spans.stallMs),
    retentionMs: fixed(spans.retentionMs),
    executorBatch: count(counts.executorBatch),
    executorMaxPending: count(counts.executorMaxPending),
    executors: choice<Word<"executors">>(choices.executors),
    executorScaleDown: choice<Word<"executorScaleDown">>(choices.executorScaleDown),
    onExecutorsGone: choice<Word<"onExecutorsGone">>(choices.onExecutorsGone),
    onDriverHang: choice<Word<"onDriverHang">>(choices.onDriverHang),
    unreachableExecutors: choice<Word<"unreachableExecutors">>(choices.unreachableExecutors),
    backoff: choice<Word<"backoff">>(choices.backoff),
    restartOn: choice<Word<"restartOn">>(choices.restartOn),
  };
  return { policies, problems: [...problems, ...listenerProblems(annotations[listener.annotation])] };
};

export type Line = Readonly<Record<"annotation" | "default" | "range" | "meaning", string>>;

/** The table as people read it. */
export const policyLines = (): readonly Line[] => [
  ...Object.values(spans).map((row: Span) => ({
    annotation: row.annotation,
    default: row.default === undefined ? (row.otherwise ?? "off") : spanText(row.default),
    range: `${spanText(row.least)} to ${spanText(row.most)}`,
    meaning: row.meaning,
  })),
  ...Object.values(counts).map((row: Count) => ({
    annotation: row.annotation,
    default: "off",
    range: `${row.least} to ${row.most}`,
    meaning: row.meaning,
  })),
  ...Object.values(choices).map((row: Choice) => ({
    annotation: row.annotation,
    default: row.words[0],
    range: row.words.join(", "),
    meaning: row.meaning,
  })),
  { ...listener, default: "its namespace's, else the operator's", range: listenerForms },
];
