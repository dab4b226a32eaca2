/**
 * The reads of an admission round beside queues and groups: nodes, pods and Jobs for plans, and pods and Jobs for the room of
 * queues. Each is a list of all namespaces, so a round reads them only when its groups need them.
 */
import { all, list, type Reads } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Looking } from "../../core/plan.ts";
import { isWaiting, phaseOf } from "../../kube/gang-plan.ts";
import { roomOf } from "../../kube/queue-room.ts";
import { nodes, pods } from "../../kube/resources.ts";
import { lineOf, queueOfGroup } from "../queue/state/tree.ts";
import { jobs } from "../schema/resource.ts";
import { type AdmissionInput, isHolding } from "./admission.ts";
import { standingIn } from "./admission-writes.ts";
import type { Evicting } from "./eviction-port.ts";
import type { ClusterNodes } from "./ground.ts";
import { isBounding, statedIn } from "./ledger.ts";
import { nativeWay } from "./native-way.ts";
import { asksForHyperNodes, jobOutlines, jobOwnerOf } from "./outlines.ts";
import { nodeOutline, podOutlines } from "./pod-outlines.ts";
import { asksForRoom, openUsage, type QueueUsage } from "./queue-usage.ts";
import { allHyperNodes } from "./topology/domains.ts";

const everywhere = (query: Pick<Extract<Looking, { do: "list" }>, "resource" | "field" | "projecting">): Looking => ({
  ...{ do: "list", namespace: "", labels: {}, again: true },
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

/** Reads the nodes, the unfinished pods, and the Jobs of groups that need places, may give room, or are counted. */
function* readCluster({ groups, queues }: AdmissionInput, giving: readonly Stored[]): Reads<Cluster> {
  const ofGroups = jobsOf(groups.filter(isOpen), giving);
  const ofAll = [allNodes, unfinishedPods(statedIn(queues)), ofGroups];
  const [ofNodes = [], ofPods = [], ofJobs = []] = yield* all(ofAll.map(list));
  const cluster = { nodes: ofNodes, pods: ofPods, jobs: ofJobs };
  return ofJobs.some(asksForHyperNodes) ? { ...cluster, hyperNodes: yield* list(allHyperNodes) } : cluster;
}

/** Reads the Jobs of groups, and the nodes and pods only if a group waits that PodGroups of Kubernetes cannot place. */
function* readNativeFirst(hall: AdmissionInput): Reads<Cluster> {
  const { groups } = hall;
  const ofJobs = yield* list(jobsOf(groups.filter(isOpen), []));
  const byUid = new Map(ofJobs.map((job) => [job.metadata.uid, job]));
  const isSpared = groups.filter(isWaiting).every((group) => nativeWay(group, byUid).is === "native");
  return isSpared ? { nodes: [], pods: [], jobs: ofJobs } : yield* readCluster(hall, []);
}

export type Cluster = Pick<ClusterNodes, "nodes" | "pods" | "jobs" | "hyperNodes">;

/** True if the time of a plan may be over. */
const isDue = (groups: readonly Stored[], now: number): boolean =>
  standingIn(groups).some(({ dueAt }) => dueAt !== undefined && dueAt <= now);

/** True if the nodes must be read: groups wait for places, or the time of a plan is over. */
const needsCluster = (groups: readonly Stored[], now: number): boolean => groups.some(isWaiting) || isDue(groups, now);

export type Planning = { readonly evicting?: Evicting | undefined; readonly native?: boolean };

/** Reads what the round needs of the cluster; undefined if it needs nothing. */
export function* clusterFor(
  hall: AdmissionInput,
  now: number,
  { evicting, native, isGiving }: Planning & { readonly isGiving: boolean },
): Reads<Cluster | undefined> {
  const { groups } = hall;
  if (!isGiving && !needsCluster(groups, now)) return undefined;
  if (native === true && !isDue(groups, now)) return yield* readNativeFirst(hall);
  return yield* readCluster(hall, evicting?.givingIn(groups) ?? []);
}

/** Returns the groups whose pods count: those in queues that are bounded, and those that were when they entered. */
const boundedIn = ({ groups, queues }: AdmissionInput): readonly Stored[] => {
  const byName = new Map(queues.map((queue) => [queue.metadata.name, queue]));
  const bounded = new Set(
    queues.map(({ metadata: { name } }) => name).filter((name) => lineOf(name, byName).some(isBounding)),
  );
  return groups.filter((group) => bounded.has(queueOfGroup(group)) || roomOf(group) !== undefined);
};

/** Reads the pods and the Jobs of groups in bounded queues, if one of these groups asks for room there. */
export function* readUsage(hall: AdmissionInput, cluster?: Cluster): Reads<QueueUsage | undefined> {
  const counted = boundedIn(hall).filter((group) => isWaiting(group) || isHolding(phaseOf(group)));
  const asking = counted.filter((group) => isWaiting(group) || asksForRoom(group));
  if (asking.length === 0) return undefined;
  // A round that has read the nodes has read all pods.
  const known = cluster !== undefined && cluster.nodes.length > 0 ? cluster.pods : undefined;
  const ofJobs = yield* list(jobsOf(asking, counted));
  const ofPods = known ?? (yield* list(unfinishedPods(statedIn(hall.queues))));
  return openUsage({ pods: ofPods, jobs: ofJobs, priorities: hall.priorities });
}
