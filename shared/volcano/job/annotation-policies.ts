/** The policies that a job's annotations ask for, read with the tables of annotations.ts. */
import { type Line, lineOf, reader } from "../../core/annotation.ts";
import type { Stored } from "../../core/object.ts";
import { type JobSpec, nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import { type CodeRule, choices, grammars, spans, type Target } from "./annotations.ts";

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
};

/** Returns the number of pods that a target needs; undefined if the job has no such task or too few replicas. */
const countOf = (spec: JobSpec, { task, count }: Target): number | undefined => {
  const one = tasksOf(spec).find((each) => nameOf(each) === task);
  if (one === undefined || (count ?? 1) > replicasOf(one)) return undefined;
  return count ?? replicasOf(one);
};

type Reading = { readonly wishes: AnnotationPolicies; readonly problems: readonly string[] };

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

/** Reads a job's annotations. A value out of range is reported as a problem, and the default applies. */
export const annotationPoliciesOf = (
  { metadata: { annotations = {} } }: Pick<Stored, "metadata">,
  spec: JobSpec,
): Reading => {
  const { span, fixed, choice, grammar, problems } = reader(annotations);
  const { success, problems: unfit } = fitting(spec, grammar(grammars.success));
  const wishes: AnnotationPolicies = {
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
  };
  return { wishes, problems: [...problems, ...unfit] };
};

/** Returns the tables as lines for people. */
export const annotationPolicyLines = (): readonly Line[] =>
  [...Object.values(spans), ...Object.values(choices), ...Object.values(grammars)].map(lineOf);
