/** The annotations by which a job asks for more than upstream offers: each with its default and its range. */

import { type Choice, type Grammar, type Line, lineOf, reader, type Span, spanUnits } from "../../core/annotation.ts";
import type { Stored } from "../../core/object.ts";
import { type PartialTask, partialAdmission, partialTask } from "../kueue/partial-admission.ts";
import { type Action, policyActions } from "../schema/resource.ts";
import { type JobSpec, nameOf, replicasOf, tasksOf } from "../schema/spec.ts";

const { second, minute, hour, day } = spanUnits;

export const spans = {
  backoffMs: {
    form: "duration",
    annotation: "rekindle.dev/restart-backoff",
    least: second,
    most: hour,
    meaning: "how long after a restart its pods are created; every further restart doubles it",
  },
  backoffMaxMs: {
    form: "duration",
    annotation: "rekindle.dev/restart-backoff-max",
    default: 6 * minute,
    least: second,
    most: day,
    meaning: "the longest wait before the pods of a restart are created",
  },
  goodRunMs: {
    form: "duration",
    annotation: "rekindle.dev/restart-reset-after",
    default: 10 * minute,
    least: second,
    most: 7 * day,
    meaning: "a job that ran this long since its last wait begins with the first wait again",
  },
  deadlineMs: {
    form: "duration",
    annotation: "rekindle.dev/active-deadline",
    least: second,
    most: 30 * day,
    meaning: "a job is terminated this long after it was first Running; resuming it starts the time again",
  },
} as const satisfies Readonly<Record<string, Span>>;

export const choices = {
  evictions: {
    form: "choice",
    annotation: "rekindle.dev/evictions",
    words: ["count", "free"],
    meaning: "free: a restart because a pod was deleted, evicted, preempted or lost with its node spends no retry",
  },
  leaving: {
    form: "choice",
    annotation: "rekindle.dev/leaving-nodes",
    words: ["wait", "evict"],
    meaning:
      "evict: a pod whose node is about to go counts as PodEvicted at once, so its policies act while it still runs",
  },
  resumes: {
    form: "choice",
    annotation: "rekindle.dev/resumes",
    words: ["count", "free"],
    meaning: "free: resuming the job by a command spends no retry",
  },
  suspend: {
    form: "choice",
    annotation: "rekindle.dev/suspend",
    words: ["false", "true"],
    meaning: "true: the job is aborted, or does not start; without it the job is resumed, which spends no retry",
  },
} as const satisfies Readonly<Record<string, Choice>>;

/** The action for a failed pod with an exit code in one of the ranges; the first rule that matches applies. */
export type CodeRule = {
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly action: Action;
};

const rangeIn = (text: string): readonly [number, number] | undefined => {
  const [, from, to = from] = /^(\d{1,3})(?:-(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const [first, last] = [Number(from), Number(to)];
  return from !== undefined && first >= 1 && first <= last && last <= 255 ? [first, last] : undefined;
};

const whole = <Value>(values: readonly (Value | undefined)[]): readonly Value[] | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === values.length ? known : undefined;
};

const ruleIn = (text: string): CodeRule | undefined => {
  const [codes = "", word = "", ...more] = text.split("=");
  const ranges = whole(codes.split(",").map(rangeIn));
  const action = policyActions.find((one) => one === word.trim());
  return ranges === undefined || action === undefined || more.length > 0 ? undefined : { ranges, action };
};

/** A task, and how many of its pods must succeed; absent: all of them. */
export type Target = { readonly task: string; readonly count?: number };

const targetIn = (text: string): Target | undefined => {
  const [, task, count] =
    /^([a-z0-9]([-a-z0-9]*[a-z0-9])?)\s*(?:=\s*([1-9]\d{0,6}))?$/.exec(text.trim())?.toSpliced(2, 1) ?? [];
  if (task === undefined) return undefined;
  return count === undefined ? { task } : { task, count: Number(count) };
};

export const grammars = {
  exitCodes: {
    form: "grammar",
    annotation: "rekindle.dev/exit-codes",
    range: "CODES=ACTION; … such as 1-127=RestartPod; 137,143=RestartJob",
    read: (text: string): readonly CodeRule[] | undefined => whole(text.split(";").map(ruleIn)),
    meaning: "what a failed pod leads to, by the exit codes of its containers; checked before all policies",
  },
  success: {
    form: "grammar",
    annotation: "rekindle.dev/success-targets",
    range: "TASK[=COUNT], … or others behind / such as chief, worker=2 / evaluator",
    read: (text: string): readonly (readonly Target[])[] | undefined =>
      whole(text.split("/").map((all) => whole(all.split(",").map(targetIn)))),
    meaning: "the job is completed as soon as this many pods of each of these tasks (default: all) have succeeded",
  },
  partial: {
    form: "grammar",
    annotation: partialAdmission,
    range: "TASK",
    read: (text: string): string | undefined => {
      const { task, count } = targetIn(text) ?? {};
      return count === undefined ? task : undefined;
    },
    meaning:
      "Kueue may admit fewer pods of this task than its replicas, as far as minAvailable and minSuccess allow that; the job then runs with these",
  },
} as const satisfies Readonly<Record<string, Grammar<unknown>>>;

type Word<Name extends keyof typeof choices> = (typeof choices)[Name]["words"][number];

export type AnnotationPolicies = {
  readonly backoffMs: number | undefined;
  readonly backoffMaxMs: number;
  readonly goodRunMs: number;
  readonly deadlineMs: number | undefined;
  readonly evictions: Word<"evictions">;
  readonly leaving: Word<"leaving">;
  readonly resumes: Word<"resumes">;
  readonly suspend: Word<"suspend">;
  readonly exitCodes: readonly CodeRule[];
  /** The job is complete when all targets of any one list are met. */
  readonly success: readonly (readonly Target[])[];
  /** The task of which Kueue may admit fewer pods; undefined: it admits all pods or none. */
  readonly partial: PartialTask | undefined;
};

/** Returns the number of pods that a target needs; undefined if the job has no such task or too few replicas. */
const countOf = (spec: JobSpec, { task, count }: Target): number | undefined => {
  const one = tasksOf(spec).find((each) => nameOf(each) === task);
  if (one === undefined || (count ?? 1) > replicasOf(one)) return undefined;
  return count ?? replicasOf(one);
};

type Reading = { readonly annotationPolicies: AnnotationPolicies; readonly problems: readonly string[] };

/** Checks success targets against the spec; one that the job cannot meet disables all of them. */
const fitting = (
  spec: JobSpec,
  success: readonly (readonly Target[])[] = [],
): { readonly success: AnnotationPolicies["success"]; readonly problems: readonly string[] } => {
  const odd = success.flat().find((target) => countOf(spec, target) === undefined);
  if (odd === undefined) return { success, problems: [] };
  const wanted = odd.count === undefined ? "" : ` of ${odd.count} pods`;
  const problem = `metadata.annotations[${grammars.success.annotation}]: the job has no task ${odd.task}${wanted}; nothing of it applies`;
  return { success: [], problems: [problem] };
};

/** Checks a task that may be admitted in part; one that the job needs as a whole is. */
const partialOf = (spec: JobSpec, task: string | undefined): Pick<Reading, "problems"> & { partial?: PartialTask } => {
  if (task === undefined) return { problems: [] };
  const partial = partialTask(spec, task);
  if (partial !== undefined) return { partial, problems: [] };
  const problem = `metadata.annotations[${partialAdmission}]: the job needs all pods of task ${task}: lower minAvailable of the task and of the job`;
  return { problems: [problem] };
};

/** Reads a job's annotations. A value out of range is reported as a problem, and the default applies. */
export const annotationPoliciesOf = (
  { metadata: { annotations = {} } }: Pick<Stored, "metadata">,
  spec: JobSpec,
): Reading => {
  const { span, fixed, choice, grammar, problems } = reader(annotations);
  const { success, problems: unfit } = fitting(spec, grammar(grammars.success));
  const { partial, problems: whole } = partialOf(spec, grammar(grammars.partial));
  const annotationPolicies: AnnotationPolicies = {
    backoffMs: span(spans.backoffMs),
    backoffMaxMs: fixed(spans.backoffMaxMs),
    goodRunMs: fixed(spans.goodRunMs),
    deadlineMs: span(spans.deadlineMs),
    evictions: choice<Word<"evictions">>(choices.evictions),
    leaving: choice<Word<"leaving">>(choices.leaving),
    resumes: choice<Word<"resumes">>(choices.resumes),
    suspend: choice<Word<"suspend">>(choices.suspend),
    exitCodes: grammar(grammars.exitCodes) ?? [],
    success,
    partial,
  };
  return { annotationPolicies, problems: [...problems, ...unfit, ...whole] };
};

/** Returns the tables as lines for people. */
export const annotationPolicyLines = (): readonly Line[] =>
  [...Object.values(spans), ...Object.values(choices), ...Object.values(grammars)].map(lineOf);
