/** Everybody who is an executor of a run that Rekindle allocates for: those of the list, and those that it did not show. */
import { all, list, type Reads } from "../../../core/decision.ts";
import type { Looking } from "../../../core/query.ts";
import { ownedBy } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { type Allotment, beyond } from "../../executors/allotment.ts";
import { hasId, idsOf } from "../../executors/ids.ts";
import { isLiving, type Member, membersOf, missingOf } from "../../executors/members.ts";
import type { ApplicationContext } from "../context.ts";
import type { Pods } from "../driver/evidence.ts";
import { isOwnRun, relevant } from "../run-spec.ts";

/** More than this are asked for in one list. */
const fewWrong = 8;

/** Those that the list shows alive, and whose end is accounted for. */
const revenants = (
  { memory: { executors } }: ApplicationContext,
  { attempt }: Allotment,
  members: readonly Member[],
) => {
  const over = idsOf((executors?.attempt === attempt ? executors.over : undefined) ?? "");
  return members.filter((member) => isLiving(member) && hasId(over, member.id)).map(({ id }) => id);
};

/** A second look at those that a list showed wrong: it may have been behind. */
const queriesFor = (
  { key, view }: ApplicationContext,
  { prefix }: Allotment,
  ids: readonly number[],
): readonly Looking[] => {
  const { namespace } = key;
  if (ids.length > fewWrong)
    return [
      {
        do: "list",
        resource: pods,
        namespace,
        labels: { "rekindle.dev/app-uid": view.uid, "spark-role": "executor" },
        again: true,
      },
    ];
  return ids.map((id) => ({ do: "get", ref: { resource: pods, namespace, name: `${prefix}-exec-${id}` } }));
};

/** All executors that there are: those of the list, but of whom it showed wrong, what the second look found. */
export function* membersOfRun(
  scene: ApplicationContext,
  allotment: Allotment,
  { executors }: Pods,
): Reads<readonly Member[]> {
  const members = membersOf(executors);
  const wrong = new Set([...missingOf(allotment, members), ...revenants(scene, allotment, members)]);
  const lists = yield* all(queriesFor(scene, allotment, [...wrong]).map(list));
  const owners = [scene.view.uid, scene.memory.driver?.uid ?? ""];
  const again = lists.flat().filter((pod) => owners.some((uid) => ownedBy(pod, uid)));
  const found = membersOf(again).filter(({ id }) => wrong.has(id));
  return [...members.filter(({ id }) => !wrong.has(id)), ...found].sort((a, b) => a.id - b.id);
}

/** On executors that Rekindle made, so that their run is known for its own also when its record is lost. */
export const madeHere = { "rekindle.dev/executors": "own" } as const;

const isMadeHere = ({ pod: { metadata } }: Member): boolean =>
  Object.entries(madeHere).every(([name, value]) => metadata.annotations?.[name] === value);

/**
 * A run of Rekindle's own whose allotment was lost shows by its executors: it goes on as their allocator. Whether the
 * driver listens is asked again; how many crashed before is not known any more.
 */
export const regained = (scene: ApplicationContext, { executors }: Pods): ApplicationContext => {
  const { memory, object } = scene;
  const members = membersOf(executors).filter(isMadeHere);
  const last = members.at(-1);
  if (last === undefined || isOwnRun(memory) || memory.driver?.attempt !== memory.attempt) return scene;
  const prefix = last.pod.metadata.name.replace(/-exec-\d+$/, "");
  const next = Math.max(memory.allotment?.next ?? 0, last.id + beyond);
  // As many ids as there are executors to be seen: how many there were before is not known any more.
  const first = next - members.length;
  const allotment: Allotment = { attempt: memory.attempt, prefix, first, next, alive: "", underway: [] };
  return { ...scene, memory: { ...memory, spec: relevant(object, true), allotment } };
};
