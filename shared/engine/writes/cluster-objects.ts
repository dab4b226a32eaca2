/**
 * The step of a key with neither object nor record: creates the objects that every cluster has (`founding`), and does
 * nothing for any other key.
 */
import { applyStage } from "../cluster/apply.ts";
import type { StepContext } from "../context/step-context.ts";
import type { Ending } from "../context/world.ts";
import { requeue } from "./requeue.ts";

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
