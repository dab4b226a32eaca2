/** Takes a step's observation into the memory: the existing pods, and the events whose objects are gone. After a recovery a seen
 * pod that is missing may come back within a window; later it counts as evicted. */

import { omit } from "../../core/json.ts";
import type { Plan } from "../../core/plan.ts";
import { isMarked, isStray } from "../../kube/gang-eviction.ts";
import { isOfTakenBack, isWaiting, takenBackOf } from "../../kube/gang-plan.ts";
import { deletionAskedAt } from "../../kube/pods.ts";
import { recalled, waitingOrders } from "../command/order.ts";
import { podName } from "../pods/names.ts";
import { nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import { evictionIn, isExcess, isKept, type JobContext, ownerOf } from "./context.ts";
import { hindranceId } from "./events.ts";
import { changed, holderOf, type Memory, ofTask } from "./memory.ts";
import { doneIn, endsUnfinished, hasFinished, hasSucceeded, isDone, isOver, type Member, removedOf } from "./pods.ts";
import { groupPhase } from "./policies.ts";

const isWhole = (context: JobContext, name: string): boolean => {
  const task = tasksOf(context.spec).find((one) => nameOf(one) === name);
  if (task === undefined) return false;
  const succeeded = context.members.filter((member) => member.task === name && isDone(member, context.memory)).length;
  return replicasOf(task) > 0 && succeeded + removedOf(context, task).length >= replicasOf(task);
};

const hasLive = ({ members }: JobContext, name: string): boolean =>
  members.some((member) => member.task === name && !hasFinished(member));

/** Ordinals of members by task. */
const byTaskOf = (members: readonly Member[]): Memory["leaving"] =>
  changed(
    new Map([...Map.groupBy(members, ({ task }) => task)].map(([task, its]) => [task, its.map(({ index }) => index)])),
  );

/**
 * Ordinals of pods whose deletion began before they succeeded. After the kubelet is done with a pod, its grace period
 * tells nothing and its times come from two clocks. So a step that sees the deletion earlier remembers it, unless the
 * pod could not count as done anyway.
 */
const leavingIn = (context: JobContext): Memory["leaving"] => {
  const { members, memory } = context;
  const mayCount = (member: Member): boolean =>
    !isExcess(context, member) && !isOver({ ...member, phase: "Succeeded" }, memory);
  return byTaskOf(members.filter((member) => member.ending && !hasSucceeded(member, memory) && mayCount(member)));
};

/** The longest time from a planned deletion to its effect: the fence, the request timeout, a second of rounding. */
const latestMs = 16_000;

/**
 * Excess pods that a step deletes. If the job grows again before they are gone, their end is still no eviction. A pod
 * that outlived the request, or whose deletion was requested later than the request could arrive, is not among them.
 */
const dismissedIn = (context: JobContext): Pick<Memory, "dismissed"> => {
  const { members, memory, view } = context;
  const before = memory.dismissed;
  const isKnown = holderOf(before?.pods ?? {});
  const latest = (before?.at ?? 0) + latestMs;
  const ended = members.filter((member) => isKnown(member) && (deletionAskedAt(member.pod) ?? view.now) <= latest);
  const excess = isKept(context) ? members.filter((member) => isExcess(context, member) && !member.ending) : [];
  const fresh = excess.filter((member) => !ended.includes(member));
  if (ended.length + fresh.length === 0) return {};
  const at = fresh.length === 0 ? (before?.at ?? view.now) : view.now;
  return { dismissed: { at, pods: byTaskOf([...ended, ...fresh]) } };
};

/** Returns the sets of ordinals that the step observes; `seen` adds to the earlier set, so that a missing pod shows. */
const bits = (context: JobContext): Pick<Memory, "seen" | "failed" | "done" | "leaving" | "dismissed"> => {
  const { members, memory, spec } = context;
  const { dismissed } = dismissedIn(context);
  const isDismissed = holderOf(dismissed?.pods ?? {});
  const staying = members.filter(
    (member) => !isOver(member, memory) && member.version >= memory.version && !isDismissed(member),
  );
  const byTask = Map.groupBy(staying, ({ task }) => task);
  const tasks = tasksOf(spec).map((task) => {
    const name = nameOf(task);
    const within = (index: number): boolean => index < replicasOf(task);
    const there = (byTask.get(name) ?? []).map(({ index }) => index).filter(within);
    const failed = (byTask.get(name) ?? []).filter(({ phase }) => phase === "Failed").map(({ index }) => index);
    const known = ofTask(memory.failed, name);
    const removed = new Set(removedOf(context, task));
    return {
      name,
      seen: [...ofTask(memory.seen, name), ...there].filter((index) => within(index) && !removed.has(index)),
      failed: failed.filter((index) => known.has(index)),
    };
  });
  return {
    seen: changed(new Map(tasks.map(({ name, seen }) => [name, new Set(seen)]))),
    failed: changed(new Map(tasks.map(({ name, failed }) => [name, failed]))),
    done: doneIn(context),
    leaving: leavingIn(context),
    ...(dismissed === undefined ? {} : { dismissed }),
  };
};

/**
 * Pods of a group that was taken back, as they did not all get their places: the job ends them, so their end is no event.
 * Finished pods stay. A pod of a later plan is younger, so that an outdated read of the group ends none of these.
 */
const takenBackIn = ({ group, memory, members }: JobContext): readonly Member[] => {
  if (group === undefined || group.metadata.uid === memory.retired || !isWaiting(group)) return [];
  const back = takenBackOf(group);
  if (back === undefined) return [];
  return members.filter((member) => !hasFinished(member) && isOfTakenBack(back, member.pod));
};

/**
 * Pods that are evicted for another group: their end is no event, and no step of the job deletes them, as disruption budgets
 * say when they go. Pods whose creation was under way meanwhile have hardly begun, and are ended.
 */
const evictedIn = (context: JobContext): readonly Member[] => {
  const { group, members } = context;
  const mark = evictionIn(context);
  if (mark === undefined || group === undefined) return [];
  const isBack = mark.pods === undefined && isWaiting(group);
  return members.filter((member) =>
    member.ending ? isMarked(mark, member.task, member.index) : isBack && isStray(mark, member.pod),
  );
};

/** Returns the test for ordinals whose end is no event. */
const quietIn = (context: JobContext, back: readonly Member[]): ReturnType<typeof holderOf> => {
  const isBack = holderOf(byTaskOf(back));
  const mark = evictionIn(context);
  return (member) => isBack(member) || (mark !== undefined && isMarked(mark, member.task, member.index));
};

const without = (sets: Memory["seen"], isGone: ReturnType<typeof holderOf>): Memory["seen"] => {
  return changed(
    new Map(
      Object.keys(sets).map((task) => [task, [...ofTask(sets, task)].filter((index) => !isGone({ task, index }))]),
    ),
  );
};

/** Returns the memory with this step's observation. */
export const withObservedPods = (context: JobContext): Memory => {
  const { memory, members, group } = context;
  const { retired, unknown, commands, ...rest } = omit(memory, "legacy", "dismissed");
  const there = new Set(members.map(({ pod }) => pod.metadata.uid));
  const known = unknown !== undefined && group?.metadata.uid === unknown && groupPhase(context) === "Unknown";
  const hindered = hindranceId(context) ?? memory.hindered;
  const back = [...takenBackIn(context), ...evictedIn(context)];
  const observed = bits(context);
  return {
    ...rest,
    ...observed,
    ...(back.length === 0 && evictionIn(context) === undefined
      ? {}
      : { seen: without(observed.seen, quietIn(context, back)) }),
    ...(hindered === undefined ? {} : { hindered }),
    doomed: [...new Set([...memory.doomed, ...back.map(({ pod }) => pod.metadata.uid)])].filter((uid) =>
      there.has(uid),
    ),
    // In phases that end unfinished pods, a task that looks unfinished comes from a stale read.
    completed: memory.completed.filter((task) => endsUnfinished(memory) || isWhole(context, task)),
    exhausted: memory.exhausted.filter((task) => hasLive(context, task)),
    ...(retired === undefined ? {} : { retired }),
    ...(known ? { unknown } : {}),
    ...(commands === undefined ? {} : { commands: recalled(commands, context.orders) }),
  };
};

/** The interval at which a step looks for a missing pod, ms. */
const pollMs = 5_000;

/** Returns the names of seen pods that do not exist. */
const missingIn = (context: JobContext): readonly string[] =>
  tasksOf(context.spec).flatMap((task) => {
    const name = nameOf(task);
    const there = new Set(context.members.filter((member) => member.task === name).map(({ index }) => index));
    return [...ofTask(context.memory.seen, name)]
      .filter((index) => !there.has(index) && index < replicasOf(task))
      .map((index) => podName(ownerOf(context).name, name, index));
  });

/** Returns the plan while the window is open for a missing pod; otherwise undefined. A command ends the wait. */
export const awaiting = (context: JobContext, memory: Memory): Plan<Memory> | undefined => {
  const { returning, now } = context.view;
  if (returning === undefined || now >= returning.until || !isKept(context)) return undefined;
  if (waitingOrders(context.orders, memory.commands).length > 0) return undefined;
  const [first] = missingIn(context);
  if (first === undefined) return undefined;
  const waitsFor = { on: "return", of: `pod ${first}`, until: returning.until } as const;
  return { memory, stages: [], next: { do: "wait", returning: true, wakeAt: returning.until, pollMs, waitsFor } };
};
