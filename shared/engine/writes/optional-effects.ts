/** Optional effects: one that cannot be applied is skipped; a skipped creation is reported. */
import { textOf } from "../../core/key.ts";
import type { Effect, Trouble } from "../../core/plan.ts";
import type { Done } from "../cluster/apply.ts";
import type { StepContext } from "../context/step-context.ts";
import { isPatient } from "../trouble.ts";
import { warn } from "./requeue.ts";

/**
 * Reports each skipped creation once, as a Warning event on the object. Returns the trouble that prevented the event,
 * if that is worth a retry.
 */
export const passOver = async (
  run: StepContext,
  stage: readonly Effect[],
  results: readonly Done[],
): Promise<Trouble | undefined> => {
  const { world, message, observation } = run;
  for (const [index, result] of results.entries()) {
    const effect = stage[index];
    if (result.did !== "passed" || effect?.do !== "create") continue;
    const { reason, message: text } = result.trouble;
    world.report("warn", "continued without it", { key: textOf(message), reason, message: text });
    if (observation.object === undefined) continue;
    const occasion = `without ${effect.object.kind} ${effect.object.metadata.name}`;
    const untold = await warn(run, occasion, result.trouble);
    if (untold !== undefined) return untold;
  }
  return undefined;
};

/** Turns the trouble of an optional effect into a skip, after the key has been retried often enough. */
export const givenUp = (run: StepContext, stage: readonly Effect[], results: readonly Done[]): readonly Done[] =>
  results.map((result, index) => {
    const effect = stage[index];
    const spared = (effect?.do === "create" || effect?.do === "patch") && effect.optional === true;
    return result.did === "troubled" && spared && !isPatient(run.message)
      ? { did: "passed", trouble: result.trouble }
      : result;
  });

/**
 * Returns the trouble that asks for the longest wait. Troubles with Events are dropped after the key has been retried
 * often enough.
 */
export const worst = (run: StepContext, stage: readonly Effect[], results: readonly Done[]): Trouble | undefined => {
  const troubles = results.flatMap((result, index) =>
    result.did === "troubled" && (isPatient(run.message) || stage[index]?.do !== "record") ? [result.trouble] : [],
  );
  return troubles.sort((a, b) => (b.retryAfterMs ?? 0) - (a.retryAfterMs ?? 0))[0];
};
