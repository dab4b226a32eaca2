/** The part of a job's step in the room of its queue: how many pods it may create, and what it wants or gives back. */
import type { Stored } from "../../core/object.ts";
import { countsText, type PodCounts, roomKey, roomOf, wantedKey, wantedOf } from "../../kube/queue-room.ts";
import { nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import type { JobContext } from "./context.ts";
import { finishedOf } from "./native-gang.ts";
import { hasFinished } from "./pods.ts";
import { mayStart } from "./starts.ts";

/** Returns the room of the job's group; undefined if no queue bounds its pods. */
const roomIn = ({ group, memory }: JobContext): PodCounts | undefined =>
  group === undefined || group.metadata.uid === memory.retired ? undefined : roomOf(group);

/** Returns how many further pods of each task the queue has room for. Pods hold their room until they have ended. */
export const openRoom = (context: JobContext): ((task: Task) => number) => {
  const room = roomIn(context);
  if (room === undefined) return () => Number.POSITIVE_INFINITY;
  const there = Map.groupBy(
    context.members.filter((member) => !hasFinished(member)),
    ({ task }) => task,
  );
  return (task) => Math.max(0, (room[nameOf(task)] ?? 0) - (there.get(nameOf(task))?.length ?? 0));
};

/** Returns the unfinished pods that a task wants; undefined before it may start: its room stays as it is. */
const wantedBy = (context: JobContext, task: Task): number | undefined =>
  mayStart(context, task) ? Math.max(0, replicasOf(task) - finishedOf(context, task)) : undefined;

type Change = Readonly<Record<string, string | null>>;

/** Returns the annotations by which a job gives back the room of finished pods, and asks for more; {} if none changes. */
export const roomChange = (context: JobContext, group: Stored): Change => {
  const room = roomIn(context);
  if (room === undefined) return {};
  const tasks = tasksOf(context.spec).map((task) => {
    const name = nameOf(task);
    const given = room[name] ?? 0;
    return { name, given, wanted: wantedBy(context, task) ?? given };
  });
  const left = countsText(Object.fromEntries(tasks.map(({ name, given, wanted }) => [name, Math.min(given, wanted)])));
  const lacking = tasks.filter(({ given, wanted }) => wanted > given);
  const asks =
    lacking.length === 0 ? null : countsText(Object.fromEntries(lacking.map(({ name, wanted }) => [name, wanted])));
  const shown = wantedOf(group);
  const asked = shown === undefined ? null : countsText(shown);
  return {
    ...(left === countsText(room) ? {} : { [roomKey]: left }),
    ...(asks === asked ? {} : { [wantedKey]: asks }),
  };
};
