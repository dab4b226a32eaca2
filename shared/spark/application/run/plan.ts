/** Turns the result of an act into a plan. */

import type { Effect, Next, Plan } from "../../../core/plan.ts";
import type { WaitingOn } from "../../../core/waiting-on.ts";
import { pods } from "../../../kube/resources.ts";
import { isLiving, membersOf } from "../../executors/members.ts";
import type { Pods } from "../state/evidence.ts";
import type { Memory } from "../state/memory.ts";
import { projected, shownExecutors } from "../state/status.ts";
import { type ApplicationContext, endOver, removal, settledAt } from "./context.ts";
import { trackedUpTo, uselessAfter } from "./executor-retention.ts";
import { events, executorEvents, withHistory } from "./history.ts";

/** Deletes as `endOver`, and ended executors that are not kept. `until`: when to look again, epoch ms. */
export const endAll = (
  scene: ApplicationContext,
  found: Pods,
): { readonly stage: readonly Effect[]; readonly until?: number } => {
  const { useless, until } = uselessAfter(scene, found.executors);
  const stage = [...endOver(scene.memory, found), ...useless.map((pod) => removal(pod, pods))];
  return { stage, ...(until === undefined ? {} : { until }) };
};

/**
 * Plans a step in which nothing runs and nothing is to be done: strays are deleted. The application rests only once no
 * stray can appear any more and its last executor has ended, because the event of that end may get lost.
 */
export const resting = (scene: ApplicationContext, found: Pods, waitsFor?: WaitingOn): Plan<Memory> => {
  const settled = settledAt(scene);
  const { stage, until } = endAll(scene, found);
  const goesOn = membersOf(found.executors).some(isLiving);
  const busy = stage.length > 0 || found.strays.length > 0 || goesOn;
  const due = scene.view.now < settled ? settled : until;
  const reason = waitsFor === undefined ? {} : { waitsFor };
  const waits: Next = { do: "wait", ...reason, ...(busy || due === undefined ? {} : { wakeAt: due }) };
  const next: Next = !busy && due === undefined ? { do: "rest", ...reason } : waits;
  return planOf(scene, scene.memory, found, { stages: [stage], next });
};

type Extras = Omit<Plan<Memory>, "memory" | "stages" | "status"> & {
  readonly stages?: readonly (readonly Effect[])[];
};

/** The plan of an act: its effects, then the event of the phase, then the status. */
export const planOf = (
  scene: ApplicationContext,
  memory: Memory,
  found: Pods | undefined,
  { stages: given = [], ...extras }: Extras,
): Plan<Memory> => {
  const { object, settings, info } = scene;
  const next = withHistory(scene, scene.memory.state.phase, memory);
  const limit = trackedUpTo({ settings, memory: next });
  const status = projected(object, next, { pods: found, info, limit });
  const executors = executorEvents(object, shownExecutors(object, next.driver), status.executorState ?? {});
  const stages = [...given, [...events(object, next), ...executors]].filter((stage) => stage.length > 0);
  return { ...extras, memory: next, stages, status };
};
