/**
 * Records every change of executors and of Workloads, and judges whether more executors ever lived than Kueue had
 * reserved quota for. Changes of both kinds have one order, that of their resource versions, because one etcd has them.
 */
import * as z from "zod";
import { metadata } from "../../../support/standins.ts";
import { openApi } from "../../cluster/node/api.ts";

const condition = z.looseObject({ type: z.string(), status: z.string() });
const counted = z.looseObject({ name: z.string(), count: z.number().default(0) });

const workload = z.object({
  metadata: metadata.extend({
    ownerReferences: z.array(z.looseObject({ uid: z.string(), controller: z.boolean().default(false) })).default([]),
  }),
  status: z
    .looseObject({
      conditions: z.array(condition).default([]),
      admission: z.looseObject({ podSetAssignments: z.array(counted).default([]) }).optional(),
      reclaimablePods: z.array(counted).default([]),
    })
    .default({ conditions: [], reclaimablePods: [] }),
});

const pod = z.object({
  metadata,
  spec: z.looseObject({ schedulingGates: z.array(z.unknown()).default([]) }),
  status: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
});

/**
 * The executors of an application for which a Workload has quota, or whether an executor lives, from a version on.
 * `app`: the UID of the application.
 */
export type Change = { readonly version: number; readonly name: string; readonly app: string } & (
  | { readonly of: "quota"; readonly executors: number; readonly isGrowth: boolean }
  | { readonly of: "executor"; readonly lives: boolean; readonly isGated: boolean }
);

export type Judgement = {
  readonly mostExecutors: number;
  /** Growths that had quota at any time. */
  readonly growths: number;
  /** Moments at which more executors lived than had quota, and gated executors; empty if all is well. */
  readonly faults: readonly string[];
};

const sum = (counts: Iterable<number>): number => [...counts].reduce((all, one) => all + one, 0);

/** Replays the changes of an application in their order. */
export const judge = (changes: readonly Change[], app: string): Judgement => {
  const [quotas, living] = [new Map<string, number>(), new Set<string>()];
  const [growths, faults] = [new Set<string>(), [] as string[]];
  let mostExecutors = 0;
  for (const change of changes.filter((one) => one.app === app).toSorted((a, b) => a.version - b.version)) {
    if (change.of === "quota") {
      quotas.set(change.name, change.executors);
      if (change.isGrowth && change.executors > 0) growths.add(change.name);
    } else if (change.lives) living.add(change.name);
    else living.delete(change.name);
    if (change.of === "executor" && change.isGated) faults.push(`${change.name} is gated`);
    mostExecutors = Math.max(mostExecutors, living.size);
    const quota = sum(quotas.values());
    if (living.size > quota) faults.push(`${change.version}: ${living.size} executors, quota for ${quota}`);
  }
  return { mostExecutors, growths: growths.size, faults };
};

/** The executors for which the Workload has quota; 0 once it was given back. */
const quotaOf = ({ status }: z.infer<typeof workload>): number => {
  const isTrue = (type: string): boolean => status.conditions.some((one) => one.type === type && one.status === "True");
  if (status.admission === undefined || !isTrue("QuotaReserved") || isTrue("Finished")) return 0;
  const executors = (sets: readonly z.infer<typeof counted>[]): number =>
    sum(sets.filter(({ name }) => name === "executor").map(({ count }) => count));
  return executors(status.admission.podSetAssignments) - executors(status.reclaimablePods);
};

const appUid = "rekindle.dev/app-uid";

/** The application's own Workload has it as its controller; a growth has a label. */
const quotaChange = (one: unknown, isGone: boolean): readonly Change[] => {
  const seen = workload.parse(one);
  const { name, resourceVersion, ownerReferences, labels } = seen.metadata;
  const grows = labels[appUid];
  const app = grows ?? ownerReferences.find(({ controller }) => controller)?.uid;
  if (app === undefined) return [];
  const executors = isGone ? 0 : quotaOf(seen);
  return [{ of: "quota", version: Number(resourceVersion), name, app, isGrowth: grows !== undefined, executors }];
};

const executorChange = (one: unknown, isGone: boolean): readonly Change[] => {
  const { metadata: meta, spec, status } = pod.parse(one);
  const app = meta.labels[appUid];
  if (app === undefined || meta.labels["spark-role"] !== "executor") return [];
  const lives = !isGone && status.phase !== "Succeeded" && status.phase !== "Failed";
  const isGated = spec.schedulingGates.length > 0;
  return [{ of: "executor", version: Number(meta.resourceVersion), name: meta.name, app, lives, isGated }];
};

type Followed = { readonly metadata: { readonly resourceVersion: string } };

/** `of` takes the UID of an application. */
export type QuotaRecord = { readonly of: (app: string) => Judgement; readonly stop: () => void };

/** Follows Workloads and pods until `stop`. */
export const openQuotaRecord = async (kubeconfig: string): Promise<QuotaRecord> => {
  const api = await openApi(kubeconfig);
  const changes: Change[] = [];
  const follow = (path: string, changeOf: (one: unknown, isGone: boolean) => readonly Change[]): void => {
    const put = (one: Followed): void => void changes.push(...changeOf(one, false));
    api.follow<Followed>(path, {
      put,
      gone: (one) => void changes.push(...changeOf(one, true)),
      all: (items) => items.forEach(put),
    });
  };
  follow("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads", quotaChange);
  follow("/api/v1/namespaces/default/pods", executorChange);
  return { of: (app) => judge(changes, app), stop: api.close };
};
