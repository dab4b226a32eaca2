/** One admission round. It runs under the key of the root queue, so that no two rounds decide at the same time. */

import { counted } from "../../core/counted.ts";
import { all, get, list, type Reads } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect, Next, View } from "../../core/plan.ts";
import type { Looking } from "../../core/query.ts";
import { until } from "../../core/waiting-on.ts";
import { nodes, pods, priorityClasses } from "../../kube/resources.ts";
import type { QueueMemory } from "../queue/state/memory.ts";
import { specOf } from "../queue/state/tree.ts";
import { jobs, podGroups } from "../schema/resource.ts";
import { type Hall, isWaiting, phaseOf, type Verdict, verdictsOf } from "./admission.ts";
import { admissionEffects, mostAtOnce } from "./admit.ts";
import { jobOwnerOf } from "./demand.ts";
import { type Ground, openGround } from "./ground.ts";
import { statedIn } from "./ledger.ts";
import type { GangMode } from "./mode.ts";
import { groupOutline, jobOutlines, nodeOutline, podOutline } from "./outlines.ts";
import { type Found, find, isSchedulers, readLeases } from "./scheduler.ts";

/** Every group of every namespace, with what it needs of the resources that these queues state. */
export const groupsOf = (all: readonly Stored[]): Looking => {
  const resources = statedIn(all);
  return {
    ...{ do: "list", resource: podGroups, namespace: "", labels: {}, spared: true },
    projecting: () => groupOutline(resources),
  };
};

const classOf = (group: Stored): string => {
  const { priorityClassName } = specOf(group);
  return typeof priorityClassName === "string" ? priorityClassName : "";
};

const classesOf = (groups: readonly Stored[]): readonly string[] => [
  ...new Set(groups.filter(isWaiting).map(classOf).filter(Boolean)),
];

function* readPriorities(names: readonly string[]): Reads<ReadonlyMap<string, number>> {
  const classes = yield* all(names.map((name) => get({ do: "get", ref: { resource: priorityClasses, name } })));
  return new Map(
    names.flatMap((name, index): readonly [string, number][] => {
      const value = classes[index]?.["value"];
      return typeof value === "number" ? [[name, value]] : [];
    }),
  );
}

const everywhere = (query: Pick<Extract<Looking, { do: "list" }>, "resource" | "field" | "projecting">): Looking => ({
  ...{ do: "list", namespace: "", labels: {}, again: true },
  ...query,
});

const allNodes = everywhere({ resource: nodes, projecting: () => nodeOutline });

/** Listed, because a watch keeps no requests. */
const unfinishedPods = everywhere({
  ...{ resource: pods, projecting: () => podOutline },
  field: "status.phase!=Succeeded,status.phase!=Failed",
});

const jobsOf = (groups: readonly Stored[]): Looking => {
  const uids = new Set(groups.flatMap((group) => jobOwnerOf(group)?.uid ?? []));
  return everywhere({ resource: jobs, projecting: () => jobOutlines(uids) });
};

/** Reads the room of the nodes for groups; undefined if no look at nodes is needed. */
function* readGround(mode: GangMode, groups: readonly Stored[]): Reads<Omit<Ground, "priorities"> | undefined> {
  if (mode !== "builtin" || !groups.some(isWaiting)) return undefined;
  const starting = groups.filter((group) => ["Inqueue", "Unknown"].includes(phaseOf(group)));
  const planned = jobsOf([...starting, ...groups.filter(isWaiting)]);
  const [ofNodes = [], ofPods = [], ofJobs = []] = yield* all([allNodes, unfinishedPods, planned].map(list));
  return { nodes: ofNodes, pods: ofPods, jobs: ofJobs, starting };
}

export type AdmissionRound = {
  /** Every group, as the round read them. */
  readonly groups: readonly Stored[];
  readonly found: Found;
  readonly effects: readonly Effect[];
  readonly next: Extract<Next, { do: "rest" | "wait" | "again" }>;
};

/** While groups wait, the step looks again: no watch shows that a scheduler has stopped. */
const pollMs = 30_000;

/** A scheduler that runs and admits nothing is to be reported soon. */
const doubtMs = 10_000;

const nextOf = (
  { admits, saying, silent, doubtful }: Found,
  verdicts: readonly Verdict[],
  waits: number,
): AdmissionRound["next"] => {
  if (waits === 0) return { do: "rest" };
  if (admits === "scheduler")
    return {
      do: "wait",
      pollMs: doubtful === true ? doubtMs : pollMs,
      waitsFor: until(counted(waits, "group"), "admitted", silent ?? saying),
    };
  const left = waits - verdicts.filter(({ enters }) => enters).length;
  return left === 0 ? { do: "rest" } : { do: "wait", pollMs, waitsFor: { on: "room", groups: left } };
};

/** Decides one round: the component that admits groups, and the groups to admit if that is Rekindle. */
export function* admissionRound(
  mode: GangMode,
  queues: readonly Stored[],
  { now, memory }: Pick<View<QueueMemory>, "now" | "memory">,
): Reads<AdmissionRound> {
  const [leases, groups] = yield* all([readLeases(mode), list(groupsOf(queues))]);
  const who = yield* find(mode, { now, memory, leases, queues, groups });
  const waits = groups.filter(isWaiting).length;
  if (who.admits === "scheduler") return { groups, found: who, effects: [], next: nextOf(who, [], waits) };
  const [priorities, ground] = yield* all([readPriorities(classesOf(groups)), readGround(mode, groups)]);
  const ours = groups.filter((group) => !(isWaiting(group) && isSchedulers(group, now)));
  const hall: Hall = {
    ...{ queues, groups: ours, priorities },
    ...(ground === undefined ? {} : { ground: openGround({ ...ground, priorities }) }),
  };
  const verdicts = verdictsOf(hall);
  const admitting = admissionEffects(verdicts, now);
  const effects = admitting.slice(0, mostAtOnce);
  const next = nextOf(who, verdicts, waits);
  // A round that admits groups and has no time for others goes on at once; one that admits none would go on for ever.
  const isShort = hall.ground?.wasShort() === true && verdicts.some(({ enters }) => enters);
  const goesOn = admitting.length > effects.length || isShort;
  return { groups, found: who, effects, next: goesOn ? { ...next, do: "again" } : next };
}
