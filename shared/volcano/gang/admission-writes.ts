/**
 * The writes of an admission round: an admitted group becomes Inqueue and gets its plan; a waiting one gets its
 * reason, once; one whose pods did not get their places in time is taken back.
 */

import { all, list, type Reads } from "../../core/decision.ts";
import { isRecord } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect, Looking } from "../../core/plan.ts";
import { timeText } from "../../core/time.ts";
import type { GangMembers } from "../../kube/gang-members.ts";
import {
  bindMs,
  type GangPlan,
  isWaiting,
  lacksRoomKey,
  phaseOf,
  placer,
  planKey,
  planOf,
  planText,
  retryAt,
  scheduledByKey,
  type TakenBack,
  takenBackKey,
  takenBackOf,
  takenBackText,
} from "../../kube/gang-plan.ts";
import { topologyKey } from "../../kube/gang-topology.ts";
import { nativeKey } from "../../kube/native-gang.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import { countsText, roomKey } from "../../kube/queue-room.ts";
import { pods } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { isFifo, queueOfGroup, statusOf } from "../queue/state/tree.ts";
import { keys, podGroups } from "../schema/resource.ts";
import { specIn } from "../validation/parse.ts";
import type { Admission, Verdict } from "./admission.ts";
import type { ClusterNodes, Obstacle } from "./ground.ts";
import { byGroup } from "./group-pods.ts";
import { byPlan } from "./native-way.ts";
import { jobOwnerOf, statedMembers } from "./outlines.ts";
import { deadlineOf, isForfeit, planEnds, type Refused, refusedOf, statedDeadline } from "./plan.ts";
import { podOutline } from "./pod-outlines.ts";
import { shortageCondition } from "./queue-usage.ts";
import type { Growth } from "./surplus.ts";

/** The most nodes that are remembered as having refused a group. */
const mostNodes = 100;

/** The most work of the writes of one round, in writes of a usual group: as many as a step's fence leaves time for. */
export const mostAtOnce = 300;

/** The work of a write of a large group is more. */
const large = 4;

/** A usual group takes less memory, bytes. The time of a write grows with the size of the object. */
const usualSize = 16_384;

/** The condition of a group that has a plan although groups are placed by PodGroups of Kubernetes. */
const nativeCondition = "NativeGang";

const conditionsOf = (group: Stored): readonly Json[] => {
  const { conditions } = statusOf(group);
  return Array.isArray(conditions) ? conditions.filter(isRecord) : [];
};

/** The conditions of a group, without the one that says why it waits. */
export const otherConditions = (group: Stored): readonly Json[] =>
  conditionsOf(group).filter(({ type }) => type !== shortageCondition && type !== nativeCondition);

/** Events about the groups that have plans because PodGroups of Kubernetes cannot say what they ask for. */
export const beyondEvents = (verdicts: readonly Verdict[]): readonly Effect[] =>
  verdicts.flatMap((verdict): readonly Effect[] =>
    verdict.enters && verdict.beyond !== undefined
      ? [
          {
            ...{ do: "record", about: verdict.group, resource: podGroups, occasion: "beyond native" },
            ...{ type: "Normal", reason: "PlacedByPlan", message: byPlan(verdict.beyond) },
          },
        ]
      : [],
  );

export const patchOf = (group: Stored, patch: Json): Effect => {
  const { name, namespace = "", uid, resourceVersion } = group.metadata;
  return { do: "patch", ref: { resource: podGroups, namespace, name }, uid, resourceVersion, patch };
};

type Entry = Extract<Verdict, { readonly enters: true }>;

/** Says for as long as the group exists why no PodGroup of Kubernetes places its pods. */
const beyondCondition = (group: Stored, beyond: string, now: number): Json => ({
  ...{ type: nativeCondition, status: "False", reason: "NotExpressible", message: byPlan(beyond) },
  ...{ transitionID: group.metadata.resourceVersion, lastTransitionTime: timeText(now) },
});

/** One patch admits the group and saves its plan, so that no step sees one without the other. */
const entering = (
  { group, places, topology, native, beyond }: Entry,
  growth: Growth | undefined,
  now: number,
): Effect => {
  const said = [
    ...(beyond === undefined ? [] : [beyondCondition(group, beyond, now)]),
    ...(growth?.short === undefined ? [] : [conditionOf(group, notEnough, growth.short, now)]),
  ];
  const conditions =
    conditionsOf(group).length + said.length === 0 ? {} : { conditions: [...otherConditions(group), ...said] };
  const { [lacksRoomKey]: lacked } = group.metadata.annotations ?? {};
  return patchOf(group, {
    metadata: {
      annotations: {
        [scheduledByKey]: placer,
        ...(places.length === 0 ? {} : { [planKey]: planText(places, now) }),
        ...(topology === undefined ? {} : { [topologyKey]: topology }),
        ...(native === true ? { [nativeKey]: "true" } : {}),
        ...(lacked === undefined ? {} : { [lacksRoomKey]: null }),
        ...roomText(group, growth),
      },
    },
    status: { phase: "Inqueue", ...conditions },
  });
};

const says = (group: Stored, why: string): boolean =>
  conditionsOf(group).some(({ type, message }) => type === shortageCondition && message === why);

const isReported = (group: Stored, { why, lacksRoom }: Obstacle): boolean =>
  phaseOf(group) === "Pending" &&
  says(group, why) &&
  (group.metadata.annotations?.[lacksRoomKey] !== undefined) === (lacksRoom === true);

const conditionOf = (group: Stored, reason: string, message: string, now: number): Json => ({
  ...{ type: shortageCondition, status: "True", reason, message },
  ...{ transitionID: group.metadata.resourceVersion, lastTransitionTime: timeText(now) },
});

/** Returns the change of the annotation that says since when the group has lacked only room. */
const lacksRoomFrom = (group: Stored, { lacksRoom }: Obstacle, now: number): Json => {
  const since = group.metadata.annotations?.[lacksRoomKey];
  const lacks = lacksRoom === true;
  if ((since !== undefined) === lacks) return {};
  return { metadata: { annotations: { [lacksRoomKey]: lacks ? timeText(now) : null } } };
};

const waiting = (group: Stored, obstacle: Obstacle, now: number): Effect =>
  patchOf(group, {
    ...lacksRoomFrom(group, obstacle, now),
    status: {
      phase: "Pending",
      conditions: [...otherConditions(group), conditionOf(group, notEnough, obstacle.why, now)],
    },
  });

/** The reason why a group, or pods of it, wait. */
const notEnough = "NotEnoughResources";

/** `gives`: it admits the group, or changes its room. */
type Write = { readonly group: Stored; readonly effect: Effect; readonly verdict?: Verdict; readonly gives: boolean };

/** Returns the write for a verdict; none for a group whose status gives the reason already. */
const writeFor = (verdict: Verdict, growth: Growth | undefined, now: number): readonly Write[] => {
  const { group } = verdict;
  if (verdict.enters) return [{ group, verdict, effect: entering(verdict, growth, now), gives: true }];
  if (verdict.isReported === true || isReported(group, verdict)) return [];
  return [{ group, verdict, effect: waiting(group, verdict, now), gives: false }];
};

/** Returns the annotation of a group's room; it is removed when no queue bounds the group's pods any more. */
const roomText = (group: Stored, growth: Growth | undefined): Json => {
  const text = growth === undefined ? undefined : countsText(growth.room);
  const shown = group.metadata.annotations?.[roomKey];
  if (text === shown) return {};
  return { [roomKey]: text ?? null };
};

/** Returns the write of an admitted group's room; none if the group says it already. */
const growing = (growth: Growth, now: number): readonly Write[] => {
  const { group, short } = growth;
  const annotations = roomText(group, growth);
  const isSaid = short === undefined ? !conditionsOf(group).some(isShortage) : says(group, short);
  if (isSaid && Object.keys(annotations).length === 0) return [];
  const kept = conditionsOf(group).filter((one) => !isShortage(one));
  const conditions = [...kept, ...(short === undefined ? [] : [conditionOf(group, notEnough, short, now)])];
  const gives = Object.keys(annotations).length > 0;
  return [{ group, gives, effect: patchOf(group, { metadata: { annotations }, status: { conditions } }) }];
};

const isShortage = ({ type }: Json): boolean => type === shortageCondition;

/** A group that waits has an Event, too. */
const workOf = ({ group, verdict }: Write): number => {
  const { size } = group;
  const ofPatch = typeof size === "number" ? Math.ceil(size / usualSize) : 1;
  return verdict?.enters === false ? ofPatch + 1 : ofPatch;
};

/** Returns a namespace; of the groups in a fifo queue the queue, so that they keep their order. */
const turnOf = (group: Stored, queues: ReadonlyMap<string, Stored>): string => {
  const name = queueOfGroup(group);
  return isFifo(queues.get(name)) ? `queue ${name}` : (group.metadata.namespace ?? "");
};

/** Orders the writes so that namespaces take turns, each with the next of its own. */
const inTurns = (writes: readonly Write[], queues: ReadonlyMap<string, Stored>): readonly Write[] => {
  const counts = new Map<string, number>();
  const numbered = writes.map((write) => {
    const turn = turnOf(write.group, queues);
    const number = counts.get(turn) ?? 0;
    counts.set(turn, number + 1);
    return { write, number };
  });
  return numbered.toSorted((one, other) => one.number - other.number).map(({ write }) => write);
};

/** The writes of one round, and the verdicts that they carry out. */
export type RoundWrites = {
  readonly effects: readonly Effect[];
  readonly verdicts: readonly Verdict[];
  /** The groups that the writes admit, or give room to. */
  readonly given: readonly Stored[];
  /** The writes that remain for the next round; `"large reasons"`: only conditions that tell why large groups wait. */
  readonly left: "nothing" | "large reasons" | "writes";
};

/** True of a write that only says why a large group waits. */
const isLargeReason = (write: Write): boolean => !write.gives && workOf(write) > large;

const leftOf = (left: readonly Write[]): RoundWrites["left"] => {
  if (left.length === 0) return "nothing";
  return left.every(isLargeReason) ? "large reasons" : "writes";
};

/**
 * Returns the writes of one round within its work, at least one: the groups of one tenant, however many and large, leave
 * the first writes of each other tenant in the round; beside groups that enter, one large group gets the reason why it
 * waits. Any part of the verdicts may be carried out, because each admitted group has room beside all that were admitted
 * before it.
 */
export const roundWrites = (
  { verdicts, growths }: Admission,
  queues: readonly Stored[],
  now: number,
  most = mostAtOnce,
): RoundWrites => {
  const byUid = new Map(growths.map((growth) => [growth.group.metadata.uid, growth]));
  const all = [
    ...verdicts.flatMap((verdict) => writeFor(verdict, byUid.get(verdict.group.metadata.uid), now)),
    ...growths.filter(({ group }) => !isWaiting(group)).flatMap((growth) => growing(growth, now)),
  ];
  const ordered = inTurns(all, new Map(queues.map((queue) => [queue.metadata.name, queue])));
  const firstReason = ordered.find(isLargeReason);
  const due = ordered.some(({ gives }) => gives)
    ? ordered.filter((write) => !isLargeReason(write) || write === firstReason)
    : ordered;
  let work = 0;
  const first = due.filter((write, at) => {
    work += workOf(write);
    return most > 0 && (at === 0 || work <= most);
  });
  const taken = new Set(first);
  return {
    effects: first.map(({ effect }) => effect),
    verdicts: first.flatMap(({ verdict }) => verdict ?? []),
    given: first.filter(({ gives }) => gives).map(({ group }) => group),
    left: leftOf(ordered.filter((write) => !taken.has(write))),
  };
};

/** Takes a group back whole: it waits again and has no plan; the job's step deletes its pods. */
const takingBack = (group: Stored, { nodes, message, sizes }: Refused, now: number): Effect => {
  const before = takenBackOf(group);
  const known = { ...before?.sizes, ...sizes };
  const back: TakenBack = {
    ...{ at: now, times: (before?.times ?? 0) + 1, nodes: nodes.slice(0, mostNodes) },
    ...(Object.keys(known).length === 0 ? {} : { sizes: known }),
  };
  const why = `${message}; it is tried again after ${timeText(retryAt(back))}`;
  return patchOf(group, {
    metadata: {
      annotations: {
        ...{ [planKey]: null, [scheduledByKey]: null, [topologyKey]: null, [takenBackKey]: takenBackText(back) },
      },
    },
    status: { phase: "Pending", conditions: [...otherConditions(group), conditionOf(group, "GangNotBound", why, now)] },
  });
};

/** A group whose plan stands, and the instant at which it is taken back unless its pods have their nodes by then. */
export type StandingPlan = {
  readonly group: Stored;
  readonly plan: GangPlan;
  readonly job: Stored | undefined;
  /** The members that a group without a Job states. */
  readonly members: GangMembers | undefined;
  readonly dueAt: number | undefined;
};

/** Returns when a plan is due, as the pods are; without a look at the cluster, the earliest instant at which it may be. */
const dueOf = (
  { metadata: { namespace = "", name } }: Stored,
  plan: GangPlan,
  {
    job,
    members,
    pods,
  }: Pick<StandingPlan, "job" | "members"> & { readonly pods?: ReadonlyMap<string, readonly Stored[]> },
): number | undefined => {
  const own = pods?.get(`${namespace}/${name}`) ?? [];
  if (members !== undefined) return pods === undefined ? plan.since : statedDeadline({ plan, members, pods: own });
  if (pods === undefined) return plan.since + bindMs;
  const read = job === undefined ? undefined : specIn(job);
  return read?.ok === true ? deadlineOf(plan, read.spec, own) : undefined;
};

const hasPlan = (group: Stored): boolean =>
  phaseOf(group) === "Inqueue" && !isEnding(group) && planOf(group) !== undefined;

/** Returns the standing plans; `cluster`: absent without a look at it. */
export const standingIn = (
  groups: readonly Stored[],
  cluster?: Pick<ClusterNodes, "pods" | "jobs">,
): readonly StandingPlan[] => {
  const jobsByUid = new Map(cluster?.jobs.map((job) => [job.metadata.uid, job]));
  const pods = cluster === undefined ? undefined : byGroup(cluster.pods);
  return groups.filter(hasPlan).flatMap((group): readonly StandingPlan[] => {
    const plan = planOf(group);
    const of = { job: jobsByUid.get(jobOwnerOf(group)?.uid ?? ""), members: statedMembers(group) };
    return plan === undefined
      ? []
      : [{ group, plan, ...of, dueAt: dueOf(group, plan, { ...of, ...(pods && { pods }) }) }];
  });
};

const podsOfJob = (job: Stored): Looking => ({
  ...{ do: "list", resource: pods, namespace: job.metadata.namespace ?? "" },
  projecting: () => podOutline,
  labels: { [keys.jobName]: job.metadata.name },
});

/** Lists the pods of a group without a Job, among all of its namespace. */
const podsOfGroup = ({ metadata: { namespace = "", name } }: Stored): Looking => ({
  ...{ do: "list", resource: pods, namespace, labels: {} },
  projecting: () => (pod) => (pod.metadata.annotations?.[keys.group] === name ? podOutline(pod) : undefined),
});

function* podsOf({ group, job, members }: StandingPlan): Reads<readonly Stored[]> {
  if (members !== undefined) return yield* list(podsOfGroup(group));
  if (job === undefined) return [];
  const found = yield* list(podsOfJob(job));
  return found.filter((pod) => ownedBy(pod, job.metadata.uid));
}

/** Ends the plan of a group that states its members: what has its places keeps them, and other places are free. */
const ending = (group: Stored): Effect => patchOf(group, { ...planEnds, status: { phase: "Running" } });

/**
 * Takes groups back whose time is over, and ends plans that have done their work. Finished pods, which had a node, are
 * read only here.
 */
export function* takeBack(
  standing: readonly StandingPlan[],
  cluster: Pick<ClusterNodes, "pods">,
  now: number,
): Reads<readonly Effect[]> {
  const late = standing.filter(({ dueAt }) => dueAt !== undefined && dueAt <= now);
  const own = yield* all(late.map(podsOf));
  return late.flatMap(({ group, plan, members }, at) => {
    const its = own[at] ?? [];
    if (members !== undefined && !isForfeit({ plan, members, pods: its })) return [ending(group)];
    const refused = refusedOf(plan, its, cluster.pods, ...(members === undefined ? [] : ["in time"]));
    return refused === undefined ? [] : [takingBack(group, refused, now)];
  });
}
