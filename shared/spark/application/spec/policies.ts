/** The policies that an application's annotations ask for, read with the tables of annotations.ts. */
import { type Line, lineOf, problemOf, type Row, reader } from "../../../core/annotation.ts";
import type { Stored } from "../../../core/object.ts";
import { hasUserPart, isListener, listenerAnnotation, listenerForms, userPartSaying } from "../../../core/sink.ts";
import { choices, counts, spans } from "./annotations.ts";

/** The listener annotation, which the engine reads for every kind; it is checked and listed here. */
const listener = {
  annotation: listenerAnnotation,
  meaning: "the listener that is told of every change of state, repeatedly until it acknowledges",
} as const satisfies Row;

const listenerProblems = (given: string | undefined): readonly string[] => {
  if (given === undefined || isListener(given.trim())) return [];
  if (hasUserPart(given.trim()))
    return [`metadata.annotations[${listenerAnnotation}]: ${userPartSaying}; silence holds`];
  return [problemOf(listener, given, listenerForms, "silence")];
};

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
  readonly driverNodeMs: number | undefined;
  readonly goneMs: number;
  readonly silenceMs: number;
  readonly stallMs: number;
  readonly leaveMs: number;
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

/** Parses the annotations. A value out of range is reported as a problem, and its default holds. */
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
    driverNodeMs: span(spans.driverNodeMs),
    goneMs: fixed(spans.goneMs),
    silenceMs: fixed(spans.silenceMs),
    stallMs: fixed(spans.stallMs),
    leaveMs: fixed(spans.leaveMs),
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

/** The table of annotations for people. */
export const policyLines = (): readonly Line[] => [
  ...[...Object.values(spans), ...Object.values(counts), ...Object.values(choices)].map(lineOf),
  { ...listener, default: "its namespace's, else the operator's", range: listenerForms },
];
