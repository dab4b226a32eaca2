/** Resources and names of all kinds that Rekindle runs, for components that only pass keys on and load no decisions. */
import { type Message, noticeKey } from "../../core/key.ts";
import type { Resource } from "../../core/object.ts";
import { pods } from "../../kube/resources.ts";
import { scheduledSparkApplications, sparkApplications, sparkConnects } from "../../spark/schema/resource.ts";
import { cronJobs, jobFlows, jobs, jobTemplates, queues } from "../../volcano/schema/resource.ts";

/** The resource of each kind. */
export const resources: readonly Resource[] = [
  ...[sparkApplications, scheduledSparkApplications, sparkConnects],
  ...[jobs, cronJobs, jobFlows, jobTemplates, queues, pods],
];

export const resourceOf = (wanted: string): Resource | undefined => resources.find(({ kind }) => kind === wanted);

export const kindNames: readonly string[] = resources.map(({ kind }) => kind);

/** True for a kind whose objects have a namespace. */
export const isNamespaced = (kind: string): boolean => kind !== queues.kind;

/** Kinds by the plural of their resource. */
export const plurals: Readonly<Record<string, string>> = Object.fromEntries(
  resources.map(({ plural, kind }) => [plural, kind]),
);

/**
 * Returns the messages of a notice: one for each kind whose pods can leave the node. `until` in epoch ms; undefined: the
 * node stays.
 */
export const noticesOf = (cluster: string, node: string, until: number | undefined): readonly Message[] => {
  const says = until === undefined ? ({ stays: true } as const) : { until };
  return [sparkApplications, jobs].map(({ kind }) => ({
    ...noticeKey(cluster, kind, node),
    reason: "notice",
    ...says,
  }));
};
