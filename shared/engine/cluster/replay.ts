/** Takes a recorded decision again from its recorded input, and compares the queries and the plan. */
import { isRecord, same } from "../../core/json.ts";
import type { Operator } from "../../core/operator.ts";
import type { Plan } from "../../core/plan.ts";
import { errorText } from "../../core/text.ts";
import { type DecisionRecording, wholePlan } from "./queries.ts";

/** The first place where a replay differs from its recording. `path` as `plan.stages[0][1].do`; values are JSON. */
export type Difference = { readonly path: string; readonly recorded: unknown; readonly replayed: unknown };

/** Returns the first difference of two JSON values; undefined if they are equal. */
const firstDifference = (path: string, recorded: unknown, replayed: unknown): Difference | undefined => {
  if (same(recorded, replayed)) return undefined;
  if (Array.isArray(recorded) && Array.isArray(replayed) && recorded.length === replayed.length)
    return recorded
      .map((item: unknown, at) => firstDifference(`${path}[${at}]`, item, replayed[at]))
      .find((difference) => difference !== undefined);
  if (!isRecord(recorded) || !isRecord(replayed)) return { path, recorded, replayed };
  return [...new Set([...Object.keys(recorded), ...Object.keys(replayed)])]
    .map((name) => firstDifference(`${path}.${name}`, recorded[name], replayed[name]))
    .find((difference) => difference !== undefined);
};

/** Returns the value as JSON writes it. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/**
 * Decides again. Returns undefined if the operator yields the recorded queries and returns the recorded plan, else the
 * first difference. A memory that this version cannot parse is a difference, and so is an error of the decision.
 */
export const replay = (operator: Operator<unknown>, recording: DecisionRecording): Difference | undefined => {
  const { key, view, rounds, plan } = recording;
  const parsed = view.memory === undefined ? undefined : operator.parse(view.memory);
  if (parsed?.ok === false) return { path: "view.memory", recorded: "readable", replayed: parsed.error };
  try {
    const reads = operator.decide(key, { ...view, memory: parsed?.memory });
    let step = reads.next();
    for (const [at, { queries, answers }] of rounds.entries()) {
      if (step.done === true)
        return { path: `rounds[${at}]`, recorded: queries, replayed: "the plan, without this read" };
      const difference = firstDifference(`rounds[${at}].queries`, plain(queries), plain(step.value));
      if (difference !== undefined) return difference;
      step = reads.next(answers);
    }
    if (step.done !== true)
      return { path: `rounds[${rounds.length}]`, recorded: "the plan, without this read", replayed: plain(step.value) };
    return firstDifference("plan", plain(plan), plain(wholePlan(step.value satisfies Plan<unknown>)));
  } catch (cause) {
    return { path: "plan", recorded: "a plan", replayed: errorText(cause) };
  }
};
