/** Ending what an attempt left behind, by UID, and going on only when it is really gone. */
import type { Stored } from "../../../core/object.ts";
import type { Decision, Plan, Query } from "../../../core/plan.ts";
import { queryId } from "../../../core/plan.ts";
import { isEnding, ownedBy } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import {
  type ApplicationContext,
  bodyOf,
  leftoversOf,
  planOf,
  podsOf,
  removal,
  seenPods,
  settledAt,
} from "../context.ts";
import type { Memory } from "../memory.ts";
import { adoptedUid, alive, type Pods } from "./evidence.ts";
import { type UnreachablePods, unreachableAmong } from "./unreachable.ts";

/** Pods that are being ended usually go within their grace; an event tells, this is for the one that got lost. */
const pollMs = 15_000;

/** The list may be behind: a driver that is known and not listed is asked for by name before it counts as ended. */
const remaining = (
  { key, view, memory }: ApplicationContext,
  found: Pods,
): readonly Stored[] | { readonly look: readonly Query[] } => {
  if (found.all.length > 0 || memory.driver === undefined) return found.all;
  const query = bodyOf(key, memory.driver);
  const answer = view.seen.get(queryId(query));
  return answer === undefined ? { look: [query] } : answer.filter((pod) => ownedBy(pod, view.uid));
};

/** Whose executors these are can be told after their driver has gone only by its UID. */
const knowing = (memory: Memory, { driver: body }: Pods): Memory => {
  const { driver } = memory;
  if (driver === undefined || body === undefined) return memory;
  if (driver.uid !== undefined && driver.uid !== adoptedUid) return memory;
  return { ...memory, driver: { ...driver, uid: body.metadata.uid } };
};

const timeOf = ({ wakeAt }: UnreachablePods): { readonly wakeAt?: number } => (wakeAt === undefined ? {} : { wakeAt });

const waitsFor = (count: number, { says }: UnreachablePods): string =>
  `${count} object(s) of the last run to end${says === undefined ? "" : `, ${says} among them`}`;

/** Removes all that earlier attempts made. `then` decides once nothing of it is left. */
export const clearAttempt = (
  scene: ApplicationContext,
  then: (scene: ApplicationContext) => Decision<Memory>,
): Decision<Memory> => {
  const { key, view, memory } = scene;
  const leftovers = leftoversOf(scene);
  const unseen = [podsOf(key), ...leftovers].filter((query) => !view.seen.has(queryId(query)));
  const found = seenPods(scene);
  if (found === undefined || unseen.length > 0) return { look: unseen };
  const others = leftovers.flatMap((query) => {
    const mine = (view.seen.get(queryId(query)) ?? []).filter((object) => ownedBy(object, view.uid));
    return mine.map((object) => ({ object, resource: query.resource }));
  });
  const left = remaining(scene, found);
  if ("look" in left) return left;
  if (left.length === 0 && others.length === 0) return then(scene);
  const stranded = unreachableAmong(scene, left);
  if ("look" in stranded) return stranded;
  const answering = alive(left).filter((pod) => !stranded.freed.has(pod));
  const stage = [
    ...stranded.ends,
    ...answering.map((pod) => removal(pod, pods)),
    ...others.filter(({ object }) => !isEnding(object)).map(({ object, resource }) => removal(object, resource)),
  ];
  const waits =
    left.length === 0 && stage.length > 0
      ? { again: true }
      : { pollMs, ...timeOf(stranded), waitsFor: waitsFor(left.length + others.length, stranded) };
  return planOf(scene, knowing(memory, found), found, { stages: [stage], ...waits });
};

/** The application is gone: what it left is ended, and when nothing can come any more, so is the memory of it. */
export const windDown = (scene: Omit<ApplicationContext, "object" | "read" | "policies">): Decision<Memory> => {
  const { key, view, memory, settings } = scene;
  const seen = view.seen.get(queryId(podsOf(key)));
  if (seen === undefined) return { look: [podsOf(key)] };
  const left = seen.filter((pod) => ownedBy(pod, view.uid) || ownedBy(pod, memory.driver?.uid ?? ""));
  const ending: Plan<Memory> = { memory, stages: [alive(left).map((pod) => removal(pod, pods))] };
  if (left.length > 0) return { ...ending, pollMs, waitsFor: `${left.length} pod(s) to end` };
  const settled = settledAt({ memory, settings });
  if (view.now < settled) return { ...ending, stages: [], wakeAt: settled, waitsFor: "the last submission to settle" };
  return { memory, stages: [], forget: true };
};
