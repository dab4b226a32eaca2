/**
 * Effects beside those that must succeed: an optional effect that cannot be applied is skipped, and a skipped creation
 * is reported; the objects that every cluster has are created for a key without object and record.
 */
import { textOf } from "../../core/key.ts";
import type { Effect, Trouble } from "../../core/plan.ts";
import { applyStage, type Done } from "../cluster/apply.ts";
import type { Ending, StepContext } from "../context/world.ts";
import { isPatient } from "../trouble.ts";
import { requeue, warn } from "./requeue.ts";

/** Returns the occasion of the Warning event about a skipped effect; undefined: it is not reported. */
const occasionOf = (effect: Effect): string | undefined => {
  if (effect.do === "evict") return `without the eviction of ${effect.uid}`;
  if (effect.do === "keepLog") return `without the log of ${effect.uid}`;
  return effect.do === "create" ? `without ${effect.object.kind} ${effect.object.metadata.name}` : undefined;
};

/**
 * Reports each skipped creation, eviction and log once, as a Warning event on the object. Returns the trouble that prevented the event,
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
    if (result.did !== "passed" || effect === undefined) continue;
    const occasion = occasionOf(effect);
    if (occasion === undefined) continue;
    const { reason, message: text } = result.trouble;
    world.report("warn", "continued without it", { key: textOf(message), reason, message: text });
    if (observation.object === undefined) continue;
    const trouble = await warn(run, occasion, result.trouble);
    if (trouble !== undefined) return trouble;
  }
  return undefined;
};

/** Turns the trouble of an optional effect into a skip, after the key has been retried often enough. */
export const givenUp = (run: StepContext, stage: readonly Effect[], results: readonly Done[]): readonly Done[] =>
  results.map((result, index) => {
    const effect = stage[index];
    const spared =
      effect?.do === "keepLog" || ((effect?.do === "create" || effect?.do === "patch") && effect.optional === true);
    return result.did === "troubled" && spared && !isPatient(run.message)
      ? { did: "passed", trouble: result.trouble }
      : result;
  });

/**
 * Returns the trouble that asks for the longest wait. Troubles with Events are dropped after the key has been retried
 * often enough.
 */
export const worstTrouble = (
  run: StepContext,
  stage: readonly Effect[],
  results: readonly Done[],
): Trouble | undefined => {
  const troubles = results.flatMap((result, index) =>
    result.did === "troubled" && (isPatient(run.message) || stage[index]?.do !== "record") ? [result.trouble] : [],
  );
  return troubles.sort((a, b) => (b.retryAfterMs ?? 0) - (a.retryAfterMs ?? 0))[0];
};

/**
 * Creates the objects that the operator founds under this name. Nothing is saved first: the names are fixed, any
 * process may create them, and their own watch events bring the next step.
 */
export const found = async ({
  world,
  message,
  operator,
}: Pick<StepContext, "world" | "message" | "operator">): Promise<Ending> => {
  const stage = operator.founding?.(message.name) ?? [];
  if (stage.length === 0 || world.shadow !== undefined) return { did: "nothing", why: "neither object nor checkpoint" };
  // Steps of such an object need a record. While its namespace is missing, the first job that needs the object reports
  // that.
  if ((await world.checkpoints.homed?.()) === false)
    return { did: "nothing", why: "the namespace of its record is missing" };
  const { cluster, clock, timing } = world;
  const context = { cluster, clock, until: clock.monotonic() + timing.fenceMs, now: 0 };
  const results = await applyStage(context, stage, timing.parallel);
  const troubled = results.find(({ did }) => did === "troubled");
  if (troubled?.did === "troubled") return await requeue(world, message, troubled.trouble);
  return { did: "step", writes: results.length };
};
