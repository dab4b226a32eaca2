/**
 * The installations that a migration can leave and return to: a row per family. Both directions are the same for all
 * families, and know only these rows.
 */
import * as z from "zod";
import type { Obj, Resource, Stored } from "../../core/object.ts";
import { type Upstream, upstreams } from "../../kube/upstream-controllers.ts";
import { kinds } from "../kinds/all.ts";
import type { Kind } from "../kinds/kind.ts";
import { podGroups, queues, volcanoCronJob, volcanoJob, volcanoJobFlow } from "../kinds/volcano.ts";

export const familyNames = ["spark", "volcano"] as const;

export type FamilyName = (typeof familyNames)[number];

/** A kind of which the objects are counted by state. */
export type CountedKind = {
  readonly resource: Resource;
  readonly stateOf: (object: Obj) => string;
  /** True for an object to which something more is to happen: the report forecasts it. */
  readonly isOpen: (object: Obj) => boolean;
  /** By state: the fate of an object that is found in it, as text for people. */
  readonly becomes: Readonly<Record<string, string>>;
  /** Whether the status shows all of the memory that upstream would need. */
  readonly isReported: (memory: unknown, object: Stored) => boolean;
  /** Whether hosts run the kind: with a version that does not, its objects would stand still. */
  readonly isRun: boolean;
};

export type Family = {
  readonly name: FamilyName;
  /** Name for users. */
  readonly title: string;
  readonly upstream: Upstream;
  /** The leader's lease: `usual` is held where none is found; `flags` of controllers may name another. */
  readonly lease: { readonly usual: string; readonly flags: readonly string[] };
  /** Leases of a scheduler of its own, which stays; undefined where there is none. */
  readonly scheduler?: { readonly leases: readonly string[] };
  /** Paths of its webhook server; `near` matches its service's or configuration's name where no Deployment tells where it is. */
  readonly hooks: { readonly path: RegExp; readonly near: RegExp };
  /** The ConfigMap that records the migration. */
  readonly record: { readonly name: string; readonly label: string };
  /** The first kind is the one that users submit. */
  readonly kinds: readonly [CountedKind, ...CountedKind[]];
  /** Kinds that have checkpoints. */
  readonly remembered: readonly string[];
};

const upstreamFor = (group: string): Upstream => {
  const found = upstreams.find(({ groups }) => groups.includes(group));
  if (found === undefined) throw new Error(`no controller of ${group} is known`);
  return found;
};

type More = Partial<Pick<CountedKind, "becomes" | "isReported" | "isOpen">>;

const counted = ({ resource, stateOf: standingOf }: Kind, more: More = {}): CountedKind => ({
  resource,
  stateOf: (object) => standingOf(object).state,
  isOpen: () => false,
  becomes: {},
  isReported: () => true,
  isRun: true,
  ...more,
});

const isUnfinished =
  ({ stateOf: standingOf }: Kind) =>
  (object: Obj): boolean =>
    standingOf(object).ended === undefined;

const [sparkApplication, ...sparkOthers] = kinds;

const sparkMemory = z.looseObject({ state: z.looseObject({ phase: z.string() }) });

const sparkBecomes: Readonly<Record<string, string>> = {
  NEW: "submitted",
  SUBMITTED: "adopted, and followed to its end",
  RUNNING: "adopted, and followed to its end",
  UNKNOWN: "adopted, and followed to its end",
  SUCCEEDING: "completed, or run again as its policy says",
  FAILING: "retried when upstream would have retried it, or failed",
  SUBMISSION_FAILED: "retried when upstream would have retried it, or failed",
  PENDING_RERUN: "submitted when its old pods are gone",
  INVALIDATING: "ended and run again, because its spec was changed",
  SUSPENDING: "suspended",
  SUSPENDED: "left suspended",
  RESUMING: "submitted",
  COMPLETED: "left as it is, until its time to live is over",
  FAILED: "left as it is, until its time to live is over",
};

const spark: Family = {
  name: "spark",
  title: "kubeflow's Spark operator",
  upstream: upstreamFor("sparkoperator.k8s.io"),
  lease: { usual: "spark-operator-lock", flags: ["leader-election-lock-name"] },
  hooks: { path: /^\/(mutate|validate)-(-v1-pod|sparkoperator-k8s-io-.+)$/, near: /spark/ },
  record: { name: "rekindle-migration", label: "kubeflow-spark-operator" },
  kinds: [
    counted(sparkApplication, {
      isOpen: isUnfinished(sparkApplication),
      becomes: sparkBecomes,
      isReported: (memory, object) => {
        const phase = sparkMemory.safeParse(memory).data?.state.phase;
        return phase === undefined || (phase || "NEW") === sparkApplication.stateOf(object).state;
      },
    }),
    ...sparkOthers.map((kind) => counted(kind)),
  ],
  remembered: kinds.map(({ resource }) => resource.kind),
};

const ended = "left as it is, until its time to live is over";

const jobBecomes: Readonly<Record<string, string>> = {
  NEW: "started when its group is admitted",
  Pending: "adopted; missing pods are created when its group is admitted",
  Running: "adopted, and followed to its end",
  Restarting: "its pods are created again when the old ones are gone",
  Aborting: "aborted when its pods are gone",
  Aborted: "left until it is resumed",
  Completing: "completed when its pods are gone",
  Terminating: "terminated when its pods are gone",
  Completed: ended,
  Terminated: ended,
  Failed: ended,
};

const jobMemory = z.looseObject({ phase: z.string(), version: z.number(), retryCount: z.number() });
const jobStatus = z.looseObject({ version: z.number().default(0), retryCount: z.number().default(0) });

/** Compares the phase, and the two counters by which upstream tells old pods from new and limits its retries. */
const isJobReported: CountedKind["isReported"] = (memory, object) => {
  const known = jobMemory.safeParse(memory).data;
  if (known === undefined) return true;
  const shown = jobStatus.safeParse(object.status ?? {}).data;
  const { state } = volcanoJob.stateOf(object);
  return known.phase === state && known.version === shown?.version && known.retryCount === shown.retryCount;
};

const stated = z.looseObject({ state: z.string().optional().catch(undefined), phase: z.string().optional() });

/** A kind whose objects have no forecast: its state is read from the status. */
const plain = (resource: Resource, isRun: boolean): CountedKind => ({
  resource,
  stateOf: (object) => {
    const { state, phase } = stated.safeParse(object.status ?? {}).data ?? {};
    return state || phase || "NEW";
  },
  ...{ isOpen: () => false, becomes: {}, isReported: () => true, isRun },
});

const volcano: Family = {
  name: "volcano",
  title: "Volcano's controllers",
  upstream: upstreamFor("batch.volcano.sh"),
  lease: { usual: "vc-controller-manager", flags: ["leader-elect-resource-name"] },
  scheduler: { leases: ["volcano", "vc-scheduler"] },
  hooks: { path: /\/[a-z]+\/(mutate|validate)$/, near: /volcano/ },
  record: { name: "rekindle-migration-volcano", label: "volcano" },
  kinds: [
    counted(volcanoJob, { isOpen: isUnfinished(volcanoJob), becomes: jobBecomes, isReported: isJobReported }),
    counted(volcanoCronJob),
    counted(volcanoJobFlow, { isOpen: isUnfinished(volcanoJobFlow) }),
    plain(queues, true),
    // PodGroups belong to their jobs.
    plain(podGroups, false),
  ],
  remembered: ["Job", "CronJob", "JobFlow", "JobTemplate", "Queue", "Pod"],
};

/** All families, by their names. */
export const families: Readonly<Record<FamilyName, Family>> = { spark, volcano };
