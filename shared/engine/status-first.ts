/**
 * Plans that need no record, for their status tells all that is to be remembered (`Safety.statusIsRecord`): whoever finds the object
 * without a record goes on from its status. The write of the status is the lock, for it is refused when the object has
 * changed since it was looked at; what the plan does is done after it, so the loser has touched nothing.
 */
import { ApiError } from "../core/errors.ts";
import type { Plan } from "../core/plan.ts";
import type { StepContext, StoredRecord } from "./context.ts";
import { objectRef } from "./observation.ts";
import { statusPatch, writeStatus } from "./status.ts";

/**
 * What acts upon the world must be the winner's: deletions that a step decided on before others went on are right by
 * what it remembers, and wrong by what is.
 */
export const acts = ({ stages }: Plan<unknown>): boolean => stages.flat().some((effect) => effect.do !== "record");

/** Who listens is told by what is saved. */
const isListenedTo = async ({ world, message, observation }: StepContext): Promise<boolean> =>
  (await world.updates?.destinationOf(message, observation.object?.metadata.annotations)) !== undefined;

/** There is no record, and this plan is no reason to make one. */
export const needsNone = async (run: StepContext, held: StoredRecord, plan: Plan<unknown>): Promise<boolean> => {
  if (plan.safety?.statusIsRecord !== true || held.version !== undefined || plan.next.do === "forget") return false;
  return (run.shown === plan || !acts(plan)) && !(await isListenedTo(run));
};

/** The run to go on with: as it was, or with the plan shown, where that was the lock. "raced": others have changed the object. */
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
    // Of what the server did not keep, nobody could go on.
    return written.memo === undefined ? { ...shown, shown: plan } : shown;
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 409) return "raced";
    throw cause;
  }
};
