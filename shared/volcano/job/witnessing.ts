/** What a step has seen, taken in: pods that are there now, and what is no event any more because it has gone. */
import { recalled } from "../command/order.ts";
import { nameOf, replicasOf, tasksOf } from "../schema/spec.ts";
import { endsUnfinished, hasFinished, isOver } from "./crew.ts";
import { groupPhase } from "./happenings.ts";
import type { Memory } from "./memory.ts";
import { changed, ofTask } from "./ordinals.ts";
import { doneIn, removedOf } from "./removed.ts";
import type { Scene } from "./scene.ts";
import { hindranceId } from "./telling.ts";

const isWhole = (scene: Scene, name: string): boolean => {
  const task = tasksOf(scene.spec).find((one) => nameOf(one) === name);
  if (task === undefined) return false;
  const succeeded = scene.members.filter((member) => member.task === name && member.phase === "Succeeded").length;
  return replicasOf(task) > 0 && succeeded + removedOf(scene, task).length >= replicasOf(task);
};

const hasLive = ({ members }: Scene, name: string): boolean =>
  members.some((member) => member.task === name && !hasFinished(member));

/** Bits of pods that are there; `seen` adds to those that were there before, so that what is missing shows. */
const bits = (scene: Scene): Pick<Memory, "seen" | "failed" | "done"> => {
  const { members, memory, spec } = scene;
  const staying = members.filter((member) => !isOver(member, memory) && member.version >= memory.version);
  const byTask = Map.groupBy(staying, ({ task }) => task);
  const tasks = tasksOf(spec).map((task) => {
    const name = nameOf(task);
    const within = (index: number): boolean => index < replicasOf(task);
    const there = (byTask.get(name) ?? []).map(({ index }) => index).filter(within);
    const failed = (byTask.get(name) ?? []).filter(({ phase }) => phase === "Failed").map(({ index }) => index);
    const known = ofTask(memory.failed, name);
    const removed = new Set(removedOf(scene, task));
    return {
      name,
      seen: [...ofTask(memory.seen, name), ...there].filter((index) => within(index) && !removed.has(index)),
      failed: failed.filter((index) => known.has(index)),
    };
  });
  return {
    seen: changed(new Map(tasks.map(({ name, seen }) => [name, new Set(seen)]))),
    failed: changed(new Map(tasks.map(({ name, failed }) => [name, failed]))),
    done: doneIn(scene),
  };
};

/** The memory with what this step sees in it. */
export const witnessed = (scene: Scene): Memory => {
  const { memory, members, group } = scene;
  const { retired, unknown, commands, legacy: _, ...rest } = memory;
  const there = new Set(members.map(({ pod }) => pod.metadata.uid));
  const known = unknown !== undefined && group?.metadata.uid === unknown && groupPhase(scene) === "Unknown";
  const hindered = hindranceId(scene) ?? memory.hindered;
  return {
    ...rest,
    ...bits(scene),
    ...(hindered === undefined ? {} : { hindered }),
    doomed: memory.doomed.filter((uid) => there.has(uid)),
    // Where nothing goes on, what looks unfinished is of a look that is behind.
    completed: memory.completed.filter((task) => endsUnfinished(memory) || isWhole(scene, task)),
    exhausted: memory.exhausted.filter((task) => hasLive(scene, task)),
    ...(retired === undefined ? {} : { retired }),
    ...(known ? { unknown } : {}),
    ...(commands === undefined ? {} : { commands: recalled(commands, scene.orders) }),
  };
};
