/**
 * The times from demand to an executor: growths as a watch shows them asked for and admitted, and the executors that use
 * each. An executor of a growth that Kueue admits at once is late by the demand; of one that waited for others to give
 * quota back, by its admission.
 */
import * as z from "zod";
import type { Stored } from "../../../shared/core/object.ts";
import { isTrue } from "../../../shared/kube/kueue.ts";
import { growthCountsOf, growthStateOf } from "../../../shared/kube/kueue-growth.ts";
import { openApi } from "../../real/cluster/node/api.ts";
import { type Figure, quantile } from "../figures.ts";
import { instant } from "../recovery/standins.ts";

/** A place that a growth grants: the instants at which it was asked for, admitted, and taken by an executor, epoch ms. */
type Place = {
  readonly askedAt: number;
  readonly admittedAt: number;
  taken?: { readonly at: number; readonly app: string };
};

const appUid = "rekindle.dev/app-uid";
const pod = z.object({
  metadata: z.object({ name: z.string(), uid: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
});

type Grants = { readonly read: () => readonly Place[]; readonly stop: () => void };

/** Follows growths and executors of the namespace `default` until `stop`. */
export const grantsIn = async (kubeconfig: string): Promise<Grants> => {
  const api = await openApi(kubeconfig);
  const asked = new Map<string, number>();
  const admitted = new Set<string>();
  const [places, free] = [[] as Place[], new Map<string, Place[]>()];
  const putWorkload = (one: Stored): void => {
    const { uid, labels = {} } = one.metadata;
    const uidOfApp = labels[appUid];
    if (uidOfApp === undefined || admitted.has(uid)) return;
    const now = instant();
    const askedAt = asked.get(uid) ?? now;
    asked.set(uid, askedAt);
    if (growthStateOf(one) !== "granted" || !isTrue(one, "Admitted")) return;
    admitted.add(uid);
    const granted = Array.from({ length: growthCountsOf(one).executors }, (): Place => ({ askedAt, admittedAt: now }));
    places.push(...granted);
    free.set(uidOfApp, [...(free.get(uidOfApp) ?? []), ...granted]);
  };
  const seen = new Set<string>();
  const putPod = (one: unknown): void => {
    const { uid, labels } = pod.parse(one).metadata;
    if (labels["spark-role"] !== "executor" || seen.has(uid)) return;
    seen.add(uid);
    const place = free.get(labels[appUid] ?? "")?.shift();
    if (place !== undefined) place.taken = { at: instant(), app: labels["sparkoperator.k8s.io/app-name"] ?? "" };
  };
  api.follow<Stored>("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads", {
    ...{ all: (all) => all.forEach(putWorkload), put: putWorkload, gone: () => {} },
  });
  api.follow<Stored>("/api/v1/namespaces/default/pods", {
    ...{ all: (all) => all.forEach(putPod), put: putPod, gone: () => {} },
  });
  return { read: () => places, stop: api.close };
};

/** A growth that Kueue admits sooner has not waited for quota, ms. */
const atOnceMs = 1_000;

/** The figures of places that were taken; `since` tells the instant of the demand that stood at another one. */
export const timeFigures = (
  places: readonly Place[],
  since: (app: string, at: number) => number,
): readonly Figure[] => {
  const taken = places.flatMap(({ taken: by, ...place }) => (by === undefined ? [] : [{ ...place, ...by }]));
  const prompt = taken.filter(({ askedAt, admittedAt }) => admittedAt - askedAt < atOnceMs);
  const waited = taken.filter(({ askedAt, admittedAt }) => admittedAt - askedAt >= atOnceMs);
  const own = quantile(
    prompt.map(({ askedAt, admittedAt }) => admittedAt - askedAt),
    0.5,
  );
  const fromDemand = prompt.map(({ app, askedAt, at }) => at - since(app, askedAt));
  const fromQuota = waited.map(({ admittedAt, at }) => at - admittedAt);
  return [
    { name: "kueue.own-time.p50", value: own, unit: "ms" },
    {
      name: "kueue.demand-to-executor.p50",
      value: quantile(fromDemand, 0.5),
      unit: "ms",
      aim: 5_000 + Math.round(own),
    },
    { name: "kueue.demand-to-executor.p95", value: quantile(fromDemand, 0.95), unit: "ms" },
    { name: "kueue.quota-to-executor.p50", value: quantile(fromQuota, 0.5), unit: "ms", aim: 5_000 },
    { name: "kueue.quota-to-executor.p95", value: quantile(fromQuota, 0.95), unit: "ms" },
  ];
};
