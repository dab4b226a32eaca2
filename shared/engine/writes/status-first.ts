/**
 * Plans that need no record, because their status holds everything to remember (`Safety.statusIsRecord`): a step that
 * finds the object without a record goes on from its status. The status write is the lock, because the server refuses
 * it if the object has changed since it was read. The effects follow it, so the loser has touched nothing.
 */
import { ApiError } from "../../core/http.ts";
import type { Plan } from "../../core/plan.ts";
import { objectRef } from "../context/observation.ts";
import type { StepContext, StoredRecord } from "../context/step-context.ts";
import { statusPatch, writeStatus } from "./status.ts";

/**
 * True if the plan has effects other than Events. Only the winner may carry these out, because an outdated memory can
 * plan deletions that are wrong for the present state.
 */
export const acts = ({ stages }: Plan<unknown>): boolean => stages.flat().some((effect) => effect.do !== "record");

/** True if the object has a listener. Its updates are stored with a save, so its key needs a record. */
const isListenedTo = async ({ world, message, observation }: StepContext): Promise<boolean> =>
  (await world.updates?.destinationOf(message, observation.object?.metadata.annotations)) !== undefined;

/** True if there is no record, and this plan is no reason to create one. */
export const needsNone = async (run: StepContext, held: StoredRecord, plan: Plan<unknown>): Promise<boolean> => {
  if (plan.safety?.statusIsRecord !== true || held.version !== undefined || plan.next.do === "forget") return false;
  return (run.shown === plan || !acts(plan)) && !(await isListenedTo(run));
};

/**
 * Writes the status first if it is the lock of this plan. Returns the context to go on with, or "raced" if the object
 * has changed.
 */
export const showFirst = async (
  run: StepContext,
  held: StoredRecord,
  plan: Plan<unknown>,
): Promise<StepContext | "raced"> => {
  const { world, message, operator, observation } = run;
  const { object } = observation;
  if (plan.safety?.statusIsRecord !== true || !acts(plan) || held.version !== undefined || object === undefined)
    return run;
  const patch = statusPatch(object, plan.status, undefined);
  if (patch === undefined || (await isListenedTo(run))) return run;
  try {
    const written = await writeStatus(world.cluster, objectRef(message, operator), object, {
      patch,
      wished: plan.status,
    });
    world.meter?.(operator.measuresOf?.(object, plan.status ?? {}, observation.now) ?? []);
    const shown = { ...run, observation: { ...observation, object: written.object } };
    // A status that the server did not keep whole cannot replace the record.
    return written.memo === undefined ? { ...shown, shown: plan } : shown;
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 409) return "raced";
    throw cause;
  }
};
