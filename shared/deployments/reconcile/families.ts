/**
 * The kinds of a function or of a host, each loaded with the first message for it, so that a process loads only the
 * kinds that it serves.
 */
import type { Operator } from "../../core/operator.ts";
import { readMessage } from "../../engine/message.ts";
import { type Delivered, longestBody } from "../../engine/reconcile/intake.ts";
import { settledMs, timing as usualTiming } from "../../engine/settings.ts";
import { families, pods, runs } from "../../kube/resources.ts";
import { scheduledSparkApplications, sparkApplications, sparkConnects } from "../../spark/schema/resource.ts";
import type { QueueOptions } from "../../volcano/queue/decide.ts";
import { cronJobs, jobFlows, jobs, jobTemplates, podGroups, queues } from "../../volcano/schema/resource.ts";
import { inCluster } from "../common/step-dependencies.ts";
import type { ApplicationSettings } from "./applications.ts";

/** Settings of a deployment for its kinds. */
export type KindSettings = ApplicationSettings & { readonly queues?: QueueOptions };

type Loaders = Readonly<Record<string, () => Promise<Operator<unknown>>>>;

const loadersFor = (settings: KindSettings): Loaders => {
  const { queues: ofQueues, timing = usualTiming } = settings;
  const settled = { settledMs: settledMs(timing) };
  const { sparkDefaults = {} } = settings.options ?? {};
  return {
    [sparkApplications.kind]: async () => (await import("./applications.ts")).applications(settings),
    [queues.kind]: async () => (await import("./queues.ts")).queuesFor(ofQueues),
    [pods.kind]: async () => (await import("../../volcano/podgroup/ungrouped-pods.ts")).volcanoPod,
    [jobs.kind]: async () => (await import("../../volcano/job/decide.ts")).volcanoJob,
    [cronJobs.kind]: async () => (await import("../../volcano/cron/decide.ts")).volcanoCronJob(settled),
    [jobFlows.kind]: async () => (await import("../../volcano/flow/decide.ts")).volcanoJobFlow(settled),
    [jobTemplates.kind]: async () => (await import("../../volcano/flow/template.ts")).volcanoJobTemplate,
    [scheduledSparkApplications.kind]: async () =>
      (await import("../../spark/scheduled/decide.ts")).scheduledSparkApplication(settled),
    [sparkConnects.kind]: async () =>
      (await import("../../spark/connect/decide.ts")).sparkConnect({ apiServer: inCluster, sparkDefaults }),
  };
};

const ofVolcano = [jobs, cronJobs, jobFlows, jobTemplates, queues];

/** The resource of each kind but pods. */
const places = [sparkApplications, ...ofVolcano, scheduledSparkApplications, sparkConnects].map((resource) => ({
  kind: resource.kind,
  resource,
}));

/** Pods belong to the Volcano family by their PodGroup. */
const pod = { kind: pods.kind, resource: pods, family: podGroups.group };

export type Families = {
  readonly kinds: readonly Pick<Operator<unknown>, "kind" | "resource" | "family">[];
  /** Returns the operator of a kind that `load` or `prepare` has loaded. */
  readonly operatorOf: (kind: string) => Operator<unknown> | undefined;
  /** Loads a kind, if it is one of those to run. */
  load(kind: string): Promise<void>;
  prepare(delivered: readonly Delivered[]): Promise<void>;
};

/** Opens the kinds of the families to run, without loading any. */
export const openFamilies = (settings: KindSettings = {}): Families => {
  const loaders = loadersFor(settings);
  const kinds = [...places, pod].filter(runs(settings.families ?? families));
  const known = new Map<string, Operator<unknown>>();
  const load = async (kind: string): Promise<void> => {
    const isRun = kinds.some((one) => one.kind === kind);
    const loader = known.has(kind) || !isRun ? undefined : loaders[kind];
    if (loader !== undefined) known.set(kind, await loader());
  };
  return {
    kinds,
    operatorOf: (kind) => known.get(kind),
    load,
    prepare: async (delivered) => {
      const short = delivered.filter(({ body }) => body.length <= longestBody);
      const kinds = new Set(short.map(({ body }) => readMessage(body)?.kind));
      await Promise.all([...kinds].map((kind) => (kind === undefined ? undefined : load(kind))));
    },
  };
};
