/**
 * The reads of an admission round beside queues and groups: nodes, pods and Jobs for plans, and pods and Jobs for the room of
 * queues. Each is a list of all namespaces, so a round reads them only when its groups need them.
 */
import { all, list, type Reads } from "../../core/decision.ts";
import { recordsIn } from "../../core/json.ts";
import type { Resource, Stored } from "../../core/object.ts";
import type { Looking, Projection } from "../../core/plan.ts";
import { isWaiting, phaseOf } from "../../kube/gang-plan.ts";
import { limitRanges, type PodDefaults, podDefaultsOf, runtimeClasses } from "../../kube/pod-defaults.ts";
import { podSpecIn } from "../../kube/pods.ts";
import { roomOf } from "../../kube/queue-room.ts";
import { nodes, pods } from "../../kube/resources.ts";
import { only } from "../../kube/trim.ts";
import { lineOf, queueOfGroup, specOf } from "../queue/state/tree.ts";
import { jobs } from "../schema/resource.ts";
import { type AdmissionInput, holdsRoom } from "./admission.ts";
import { standingIn } from "./admission-writes.ts";
import type { Evicting } from "./eviction-port.ts";
import type { ClusterNodes } from "./ground.ts";
import { isBounding, statedIn } from "./ledger.ts";
import { nativeWay } from "./native-way.ts";
import { asksForHyperNodes, jobOutlines, jobOwnerOf, metadataOf } from "./outlines.ts";
import { nodeOutline, podOutlines } from "./pod-outlines.ts";
import { asksForRoom, openUsage, type QueueUsage } from "./queue-usage.ts";
import { allHyperNodes } from "./topology/domains.ts";

const everywhere = (query: Pick<Extract<Looking, { do: "list" }>, "resource" | "field" | "projecting">): Looking => ({
  ...{ do: "list", namespace: "", labels: {} },
  ...query,
});

const allNodes = everywhere({ resource: nodes, projecting: () => nodeOutline });

/** Listed, because a watch keeps no requests; `stated`: the resources that queues bound. */
const unfinishedPods = (stated: ReadonlySet<string>): Looking =>
  everywhere({
    ...{ resource: pods, projecting: () => podOutlines(stated) },
    field: "status.phase!=Succeeded,status.phase!=Failed",
  });

const ownersOf = (groups: readonly Stored[]): ReadonlySet<string> =>
  new Set(groups.flatMap((group) => jobOwnerOf(group)?.uid ?? []));

/** The Jobs of groups that need places, and of groups that may give room. */
const jobsOf = (needy: readonly Stored[], giving: readonly Stored[]): Looking => {
  const [uids, counted] = [ownersOf(needy), ownersOf(giving)];
  return everywhere({ resource: jobs, projecting: () => jobOutlines(uids, undefined, counted) });
};

/** True for a group whose pods have to be counted: it waits, or was admitted and may lack some. */
const isOpen = (group: Stored): boolean => isWaiting(group) || ["Inqueue", "Unknown"].includes(phaseOf(group));

export type Cluster = Pick<ClusterNodes, "nodes" | "pods" | "jobs" | "hyperNodes" | "defaults">;

/** True if the time of a plan may be over. */
const isDue = (groups: readonly Stored[], now: number): boolean =>
  standingIn(groups).some(({ dueAt }) => dueAt !== undefined && dueAt <= now);

/** True if the nodes must be read: groups wait for places, or the time of a plan is over. */
const needsCluster = (groups: readonly Stored[], now: number): boolean => groups.some(isWaiting) || isDue(groups, now);

/** Returns the groups whose pods count: those in queues that are bounded, and those that were when they entered. */
const countedIn = ({ groups, queues }: AdmissionInput): readonly Stored[] => {
  const byName = new Map(queues.map((queue) => [queue.metadata.name, queue]));
  const bounded = new Set(
    queues.map(({ metadata: { name } }) => name).filter((name) => lineOf(name, byName).some(isBounding)),
  );
  return groups
    .filter((group) => bounded.has(queueOfGroup(group)) || roomOf(group) !== undefined)
    .filter((group) => isWaiting(group) || holdsRoom(group));
};

const asks = (group: Stored): boolean => isWaiting(group) || asksForRoom(group);

/**
 * The lists of a round. A step reads each list once, by its text, whatever part of the objects is kept: so all readers of a
 * round ask for the same parts.
 */
type RoundLists = { readonly jobs: Looking; readonly pods: Looking };

const listsOf = (hall: AdmissionInput, evicting: Evicting | undefined): RoundLists => {
  const { groups, queues } = hall;
  const counted = countedIn(hall);
  return {
    jobs: jobsOf(
      [...groups.filter(isOpen), ...counted.filter(asks)],
      [...(evicting?.givingIn(groups) ?? []), ...counted],
    ),
    pods: unfinishedPods(statedIn(queues)),
  };
};

const named = (resource: Resource, projection: Projection): Looking => ({
  ...everywhere({ resource, projecting: () => projection }),
  ...{ spared: true, optional: true },
});

const rangeOutline: Projection = (range) => ({ ...range, metadata: metadataOf(range, []) });

const classOutline: Projection = ({ apiVersion, kind, ...one }) => ({
  ...{ apiVersion, kind, metadata: metadataOf({ apiVersion, kind, ...one }, []) },
  ...only(one, ["overhead", "scheduling"]),
});

const namesClass = (job: Stored): boolean =>
  recordsIn(specOf(job)["tasks"]).some(({ template }) => podSpecIn(template)["runtimeClassName"] !== undefined);

/** Reads what the API server adds to pods. Without the right to, only pods that exist show it. */
function* readDefaults(ofJobs: readonly Stored[]): Reads<PodDefaults> {
  const ranges = yield* list(named(limitRanges, rangeOutline));
  const classes = ofJobs.some(namesClass) ? yield* list(named(runtimeClasses, classOutline)) : [];
  return podDefaultsOf(ranges, classes);
}

/** Reads the nodes, the unfinished pods, and the Jobs of groups that need places, may give room, or are counted. */
function* readCluster(lists: RoundLists): Reads<Cluster> {
  const ofAll = [allNodes, lists.pods, lists.jobs];
  const [ofNodes = [], ofPods = [], ofJobs = []] = yield* all(ofAll.map(list));
  const cluster = { nodes: ofNodes, pods: ofPods, jobs: ofJobs, defaults: yield* readDefaults(ofJobs) };
  return ofJobs.some(asksForHyperNodes) ? { ...cluster, hyperNodes: yield* list(allHyperNodes) } : cluster;
}

/** Reads the Jobs of groups, and the nodes and pods only if a group waits that PodGroups of Kubernetes cannot place. */
function* readNativeFirst(lists: RoundLists, groups: readonly Stored[]): Reads<Cluster> {
  const ofJobs = yield* list(lists.jobs);
  const byUid = new Map(ofJobs.map((job) => [job.metadata.uid, job]));
  const isSpared = groups.filter(isWaiting).every((group) => nativeWay(group, byUid).is === "native");
  return isSpared ? { nodes: [], pods: [], jobs: ofJobs } : yield* readCluster(lists);
}

export type Planning = { readonly evicting?: Evicting | undefined; readonly native?: boolean };

/** Reads what the round needs of the cluster; undefined if it needs nothing. */
export function* clusterFor(
  hall: AdmissionInput,
  now: number,
  { evicting, native, isGiving }: Planning & { readonly isGiving: boolean },
): Reads<Cluster | undefined> {
  const { groups } = hall;
  if (!isGiving && !needsCluster(groups, now)) return undefined;
  const lists = listsOf(hall, evicting);
  if (native === true && !isDue(groups, now)) return yield* readNativeFirst(lists, groups);
  return yield* readCluster(lists);
}

/** Reads the pods and the Jobs of groups in bounded queues, if one of these groups asks for room there. */
export function* readUsage(hall: AdmissionInput, evicting?: Evicting): Reads<QueueUsage | undefined> {
  if (!countedIn(hall).some(asks)) return undefined;
  const lists = listsOf(hall, evicting);
  const [ofPods = [], ofJobs = []] = yield* all([lists.pods, lists.jobs].map(list));
  const defaults = yield* readDefaults(ofJobs);
  return openUsage({ pods: ofPods, jobs: ofJobs, priorities: hall.priorities, defaults });
}
