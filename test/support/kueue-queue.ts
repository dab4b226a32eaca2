/**
 * A LocalQueue of Kueue for tests, whose quota is a number of executors for each flavor: it admits Workloads in the order of their
 * creation, fewer executors than asked for where `minCount` allows that, and evicts. As Kueue, it only marks an evicted
 * Workload, whose owner gives the quota back.
 */
import type { Obj, Stored } from "../../shared/core/object.ts";
import { evicted, reserved } from "./kueue.ts";

type Fields = Readonly<Record<string, unknown>>;

const fields = (value: unknown): Fields => Object(value ?? {});
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value : []);

const holds = (workload: Stored, type: string): boolean =>
  listOf(fields(workload.status)["conditions"]).some((one) => one["type"] === type && one["status"] === "True");

const executorsIn = (sets: unknown): number =>
  listOf(sets)
    .filter(({ name }) => name === "executor")
    .reduce((sum, { count }) => sum + Number(count ?? 0), 0);

/** The executors for which there is quota, by flavor. */
export type Quotas = Readonly<Record<string, number>>;

/** The flavor that was assigned to the executors of a Workload. */
export const flavorIn = ({ status }: Stored): unknown => {
  const sets = listOf(fields(fields(status)["admission"])["podSetAssignments"]);
  return fields(sets.find(({ name }) => name === "executor")?.["flavors"])["cpu"];
};

/** The executors whose quota a Workload uses; 0 before its admission, and once the quota was given back. */
export const usedBy = (workload: Stored): number => {
  const { admission, reclaimablePods } = fields(workload.status);
  if (!holds(workload, "QuotaReserved") || holds(workload, "Finished") || admission === undefined) return 0;
  return executorsIn(fields(admission)["podSetAssignments"]) - executorsIn(reclaimablePods);
};

/** The Workload with as many executors as fit into `room`; undefined if not even its least number does. */
const fitted = (workload: Stored, room: number): Stored | undefined => {
  const spec = fields(workload.spec);
  const podSets = listOf(spec["podSets"]).map((set) => {
    const count = Number(set["count"] ?? 0);
    const least = Number(set["minCount"] ?? count);
    if (set["name"] !== "executor" || count <= room) return set;
    return { ...set, count: least <= room ? room : Number.NaN };
  });
  return podSets.some(({ count }) => Number.isNaN(count)) ? undefined : { ...workload, spec: { ...spec, podSets } };
};

/** The executors of a Workload that may run: none once it is evicted. */
export const grantedBy = (workload: Stored): number =>
  holds(workload, "Admitted") && !holds(workload, "Evicted") ? usedBy(workload) : 0;

/** The executors that a Workload asks for. */
export const executorsAsked = ({ spec }: Stored): number => executorsIn(fields(spec)["podSets"]);

/** True while a Workload is in its queue. */
export const isQueued = (workload: Stored): boolean =>
  usedBy(workload) === 0 &&
  !holds(workload, "QuotaReserved") &&
  !holds(workload, "Finished") &&
  fields(workload.spec)["active"] !== false &&
  workload.metadata.deletionTimestamp === undefined;

export type StatusWrite = { readonly workload: Stored; readonly status: Fields };

const priorityOf = ({ spec }: Stored): number => Number(fields(spec)["priority"] ?? 0);

const made = (one: Obj): string => String(one.metadata["creationTimestamp"] ?? "");

/** Those that wait: a higher priority first, then the older. */
const queued = (all: readonly Stored[]): readonly Stored[] =>
  all.filter(isQueued).toSorted((a, b) => priorityOf(b) - priorityOf(a) || made(a).localeCompare(made(b)));

const usedIn = (all: readonly Stored[]): number => all.reduce((sum, one) => sum + usedBy(one), 0);

const roomIn = (all: readonly Stored[], quotas: Quotas): number =>
  Object.values(quotas).reduce((sum, one) => sum + one, 0) - usedIn(all);

type Fit = { readonly flavor: string; readonly taken: Stored };

/** The flavor that has room for all executors, else for some; as Kueue, the first one in the order of the queue. */
const fitIn = (rooms: ReadonlyMap<string, number>, workload: Stored): Fit | undefined => {
  const fits = [...rooms].flatMap(([flavor, room]): readonly Fit[] => {
    const taken = room <= 0 ? undefined : fitted(workload, room);
    return taken === undefined ? [] : [{ flavor, taken }];
  });
  return fits.find(({ taken }) => executorsAsked(taken) === executorsAsked(workload)) ?? fits[0];
};

/** The status of each Workload that is admitted next within these quotas. */
export const admissions = (all: readonly Stored[], quotas: Quotas, now: number): readonly StatusWrite[] => {
  const rooms = new Map(
    Object.entries(quotas).map(([flavor, quota]) => [
      flavor,
      quota - usedIn(all.filter((one) => flavorIn(one) === flavor)),
    ]),
  );
  return queued(all).flatMap((workload) => {
    const fit = fitIn(rooms, workload);
    if (fit === undefined) return [];
    const { flavor, taken } = fit;
    rooms.set(flavor, (rooms.get(flavor) ?? 0) - executorsAsked(taken));
    return [{ workload, status: reserved(taken, flavor, now, true) }];
  });
};

/** The status of a Workload that Kueue evicts. */
export const eviction = (workload: Stored, now: number): StatusWrite => ({
  workload,
  status: evicted(workload, "Preempted", now),
});

/**
 * The status of each Workload that is evicted for the first that waits: those of a lower priority, the newest first,
 * and no more than it lacks. None, while one that was evicted has not given its quota back.
 */
export const preemptions = (all: readonly Stored[], quotas: Quotas, now: number): readonly StatusWrite[] => {
  const [first] = queued(all);
  if (first === undefined || all.some((one) => usedBy(one) > 0 && holds(one, "Evicted"))) return [];
  let lack = executorsAsked(first) - roomIn(all, quotas);
  return all
    .filter((one) => usedBy(one) > 0 && priorityOf(one) < priorityOf(first))
    .toSorted((a, b) => made(b).localeCompare(made(a)))
    .flatMap((one) => {
      if (lack <= 0) return [];
      lack -= usedBy(one);
      return [eviction(one, now)];
    });
};

/** A ClusterQueue with quota for as many executors of each flavor. */
export const queueWith = (quotas: Quotas): Obj => ({
  ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "ClusterQueue", metadata: { name: "all" } },
  spec: {
    resourceGroups: [
      {
        flavors: Object.entries(quotas).map(([name, nominalQuota]) => ({
          ...{ name, resources: [{ name: "pods", nominalQuota }] },
        })),
      },
    ],
  },
});

/** The executors for which a ClusterQueue has quota, by flavor. */
export const quotasOf = ({ spec }: Obj): Quotas => {
  const [group] = listOf(fields(spec)["resourceGroups"]);
  return Object.fromEntries(
    listOf(group?.["flavors"]).map(({ name, resources }) => [
      String(name),
      Number(listOf(resources)[0]?.["nominalQuota"] ?? 0),
    ]),
  );
};

/** The Workload by which Kueue's integration admits an application, which is its controller. */
export const ownWorkload = (application: Stored, executors: number): Obj => {
  const { name, namespace = "default", uid, labels } = application.metadata;
  const set = (role: string, count: number) => ({ name: role, count, template: { spec: { containers: [] } } });
  const { apiVersion, kind } = application;
  return {
    ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload" },
    metadata: {
      ...{ name: `sparkapplication-${name}-1a2b3`, namespace, labels: { "kueue.x-k8s.io/job-uid": uid } },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      queueName: labels?.["kueue.x-k8s.io/queue-name"],
      podSets: [set("driver", 1), set("executor", executors)],
      priority: 7,
    },
  };
};
