/**
 * Plans that need no record, for their status tells all that is to be remembered (`Plan.shown`): whoever finds the object
 * without a record goes on from its status. The write of the status is the lock, for it is refused when the object has
 * changed since it was looked at; what the plan does is done after it, so the loser has touched nothing.
 */
import { ApiError } from "../core/errors.ts";
import type { Plan } from "../core/plan.ts";
import type { Held, Run } from "./context.ts";
import { objectRef } from "./observe.ts";
import { statusPatch, writeStatus } from "./status.ts";

/**
 * What acts upon the world must be the winner's: deletions that a step decided on before others went on are right by
 * what it remembers, and wrong by what is.
 */
export const acts = ({ stages }: Plan<unknown>): boolean => stages.flat().some((effect) => effect.do !== "record");

/** Who listens is told by what is saved. */
const isListenedTo = async ({ world, message, sight }: Run): Promise<boolean> =>
  (await world.updates?.destinationOf(message, sight.object?.metadata.annotations)) !== undefined;

/** There is no record, and this plan is no reason to make one. */
export const needsNone = async (run: Run, held: Held, plan: Plan<unknown>): Promise<boolean> => {
  if (plan.shown !== true || held.version !== undefined || plan.forget === true) return false;
  return (run.shown === plan || !acts(plan)) && !(await isListenedTo(run));
};

/** The run to go on with: as it was, or with the plan shown, where that was the lock. "raced": others have changed the object. */
export const showFirst = async (run: Run, held: Held, plan: Plan<unknown>): Promise<Run | "raced"> => {
  const { world, message, operator, sight } = run;
  const { object } = sight;
  if (plan.shown !== true || !acts(plan) || held.version !== undefined || object === undefined) return run;
  const patch = statusPatch(object, plan.status, undefined);
  if (patch === undefined || (await isListenedTo(run))) return run;
  try {
    const written = await writeStatus(world.cluster, objectRef(message, operator), object, {
      patch,
      wished: plan.status,
    });
    world.meter?.(operator.measuresOf?.(object, plan.status ?? {}, sight.now) ?? []);
    const shown = { ...run, sight: { ...sight, object: written.object } };
    // Of what the server did not keep, nobody could go on.
    return written.memo === undefined ? { ...shown, shown: plan } : shown;
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 409) return "raced";
    throw cause;
  }
};
