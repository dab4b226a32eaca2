/** The names of all kinds that Rekindle runs, for those who only pass keys on and need none of their decisions. */
import { type Message, noticeKey } from "../../core/key.ts";
import type { Resource } from "../../core/object.ts";
import { pods } from "../../kube/resources.ts";
import { sparkApplications } from "../../spark/application/resource.ts";
import { sparkConnects } from "../../spark/connect/resource.ts";
import { scheduledSparkApplications } from "../../spark/scheduled/resource.ts";
import { cronJobs, jobFlows, jobs, jobTemplates, queues } from "../../volcano/resource.ts";

/** Where they stand. */
export const resources: readonly Resource[] = [
  ...[sparkApplications, scheduledSparkApplications, sparkConnects],
  ...[jobs, cronJobs, jobFlows, jobTemplates, queues, pods],
];

export const kindNames: readonly string[] = resources.map(({ kind }) => kind);

/** Kinds by the plural of their resource. */
export const plurals: Readonly<Record<string, string>> = Object.fromEntries(
  resources.map(({ plural, kind }) => [plural, kind]),
);

/** What is sent when a node is about to go: one notice for each kind whose pods can leave it. `until` in epoch ms. */
export const noticesOf = (cluster: string, node: string, until: number): readonly Message[] =>
  [sparkApplications, jobs].map(({ kind }) => ({ ...noticeKey(cluster, kind, node), reason: "notice", until }));
