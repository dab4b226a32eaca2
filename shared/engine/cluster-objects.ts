/** A step of a key with neither an object nor a record: an object that every cluster has is made, anything else is nothing. */
import { applyStage } from "./apply.ts";
import type { StepContext } from "./context.ts";
import { requeue } from "./requeue.ts";
import type { Ending } from "./world.ts";

/** Nothing is saved first: names are fixed, whoever makes the object, and its own watch event leads on. */
export const found = async ({
  world,
  message,
  operator,
}: Pick<StepContext, "world" | "message" | "operator">): Promise<Ending> => {
  const stage = operator.founding?.(message.name) ?? [];
  if (stage.length === 0 || world.shadow !== undefined) return { did: "nothing", why: "neither object nor checkpoint" };
  // Its steps need a record. Where none can be kept, the first job that asks for the object is told what is missing.
  if ((await world.checkpoints.homed?.()) === false)
    return { did: "nothing", why: "the namespace of its record is missing" };
  const { cluster, clock, timing } = world;
  const hands = { cluster, clock, until: clock.monotonic() + timing.fenceMs, now: 0 };
  const results = await applyStage(hands, stage, timing.parallel);
  const troubled = results.find(({ did }) => did === "troubled");
  if (troubled?.did === "troubled") return await requeue(world, message, troubled.trouble);
  return { did: "step", writes: results.length };
};
