/** The plans that stand: when each is due, and the groups that are taken back because their pods are late. */
import { all, list, type Reads } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect, Looking } from "../../core/plan.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { keys } from "../schema/resource.ts";
import { specIn } from "../validation/parse.ts";
import { takingBack } from "./admit.ts";
import { jobOwnerOf } from "./demand.ts";
import { byGroup, type Ground } from "./ground.ts";
import { podOutline } from "./outlines.ts";
import { phaseOf } from "./phase.ts";
import { type GangPlan, planOf } from "./plan.ts";
import { bindMs, deadlineOf, refusedOf } from "./take-back.ts";

/** A group whose plan stands, and the instant at which it is taken back unless its pods have their nodes by then. */
export type Standing = {
  readonly group: Stored;
  readonly plan: GangPlan;
  readonly job: Stored | undefined;
  readonly dueAt: number | undefined;
};

/** Returns when a plan is due, as the pods are; without a look at the cluster, the earliest instant at which it may be. */
const dueOf = (
  { metadata: { namespace = "", name } }: Stored,
  plan: GangPlan,
  { job, pods }: { readonly job?: Stored | undefined; readonly pods?: ReadonlyMap<string, readonly Stored[]> },
): number | undefined => {
  if (pods === undefined) return plan.since + bindMs;
  const read = job === undefined ? undefined : specIn(job);
  return read?.ok === true ? deadlineOf(plan, read.spec, pods.get(`${namespace}/${name}`) ?? []) : undefined;
};

const hasPlan = (group: Stored): boolean =>
  phaseOf(group) === "Inqueue" && !isEnding(group) && planOf(group) !== undefined;

/** Returns the standing plans; `cluster`: absent without a look at it. */
export const standingIn = (groups: readonly Stored[], cluster?: Pick<Ground, "pods" | "jobs">): readonly Standing[] => {
  const jobsByUid = new Map(cluster?.jobs.map((job) => [job.metadata.uid, job]));
  const pods = cluster === undefined ? undefined : byGroup(cluster.pods);
  return groups.filter(hasPlan).flatMap((group): readonly Standing[] => {
    const plan = planOf(group);
    const job = jobsByUid.get(jobOwnerOf(group)?.uid ?? "");
    return plan === undefined ? [] : [{ group, plan, job, dueAt: dueOf(group, plan, { job, ...(pods && { pods }) }) }];
  });
};

const podsOfJob = (job: Stored): Looking => ({
  ...{ do: "list", resource: pods, namespace: job.metadata.namespace ?? "", again: true },
  projecting: () => podOutline,
  labels: { [keys.jobName]: job.metadata.name },
});

function* podsOf(job: Stored | undefined): Reads<readonly Stored[]> {
  return job === undefined ? [] : yield* list(podsOfJob(job));
}

/** Takes groups back whose time is over; finished pods, which had a node, are read only here. */
export function* takeBack(
  standing: readonly Standing[],
  cluster: Pick<Ground, "pods">,
  now: number,
): Reads<readonly Effect[]> {
  const late = standing.filter(({ dueAt }) => dueAt !== undefined && dueAt <= now);
  const own = yield* all(late.map(({ job }) => podsOf(job)));
  return late.flatMap(({ group, plan, job }, at) => {
    const members = (own[at] ?? []).filter((pod) => job !== undefined && ownedBy(pod, job.metadata.uid));
    const refused = refusedOf(plan, members, cluster.pods);
    return refused === undefined ? [] : [takingBack(group, refused, now)];
  });
}
