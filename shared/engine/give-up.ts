/** Letting go of a key whose steps never come to their end: told on the object, so that no queue has to hold it. */

import type { Message } from "../core/key.ts";
import { textOf } from "../core/key.ts";
import type { Trouble } from "../core/plan.ts";
import { observe } from "./observe.ts";
import { publishTrouble } from "./requeue.ts";
import type { World } from "./world.ts";

/** Tells the trouble as an event, and in the record, which a resync then finds unfinished. */
export const giveUp = async (world: World, message: Message, trouble: Trouble): Promise<void> => {
  world.report("error", "a key is let go of until its next event or resync", { key: textOf(message), ...trouble });
  const operator = world.operatorOf(message.kind);
  if (operator === undefined || world.shadow !== undefined) return;
  const observed = await observe(world, message, operator);
  if (observed.see !== "observation") return;
  const { observation } = observed;
  const began = world.clock.monotonic();
  const run = { world, message, operator, observation, began, looked: began };
  await publishTrouble(run, { record: observation.record, version: observation.version }, trouble);
};
