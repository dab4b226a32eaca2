/** The recovery window of a job: a seen pod that is missing may come back within it; later it counts as evicted. */
import type { Plan } from "../../core/plan.ts";
import { waitingOrders } from "../command/order.ts";
import { podName } from "../pods/names.ts";
import { nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import { isKept, type JobContext, ownerOf } from "./context.ts";
import type { Memory } from "./memory.ts";
import { ofTask } from "./ordinals.ts";

/** The interval at which a step looks for a missing pod, ms. */
const pollMs = 5_000;

/** Returns the names of seen pods that do not exist. */
const missingIn = (scene: JobContext): readonly string[] =>
  tasksOf(scene.spec).flatMap((task) => {
    const name = nameOf(task);
    const there = new Set(scene.members.filter((member) => member.task === name).map(({ index }) => index));
    return [...ofTask(scene.memory.seen, name)]
      .filter((index) => !there.has(index) && index < replicasOf(task))
      .map((index) => podName(ownerOf(scene).name, name, index));
  });

/** Returns the plan while the window is open for a missing pod; otherwise undefined. A command ends the wait. */
export const awaiting = (scene: JobContext, memory: Memory): Plan<Memory> | undefined => {
  const { returning, now } = scene.view;
  if (returning === undefined || now >= returning.until || !isKept(scene)) return undefined;
  if (waitingOrders(scene.orders, memory.commands).length > 0) return undefined;
  const [first] = missingIn(scene);
  if (first === undefined) return undefined;
  const waitsFor = { on: "return", of: `pod ${first}`, until: returning.until } as const;
  return { memory, stages: [], next: { do: "wait", returning: true, wakeAt: returning.until, pollMs, waitsFor } };
};
