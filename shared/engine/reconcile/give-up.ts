/** Gives up a message whose steps never succeed: an Event on the object says so, and the message leaves the queue. */

import type { Message } from "../../core/key.ts";
import { textOf } from "../../core/key.ts";
import type { Trouble } from "../../core/plan.ts";
import type { World } from "../context/world.ts";
import { readLive } from "../reads/live.ts";
import { publishTrouble } from "../writes/requeue.ts";

/** Writes the trouble as an Event and into the record, so that a resync finds the key unfinished. */
export const giveUp = async (world: World, message: Message, trouble: Trouble): Promise<void> => {
  world.report("error", "gave up on a key until its next event or resync", { key: textOf(message), ...trouble });
  const operator = world.operatorOf(message.kind);
  if (operator === undefined || world.shadow !== undefined) return;
  const observed = await readLive(world, message, operator);
  if (observed.see !== "observation") return;
  const { observation } = observed;
  const began = world.clock.monotonic();
  const run = { world, message, operator, observation, began, looked: began };
  await publishTrouble(run, { record: observation.record, version: observation.version }, trouble);
};
