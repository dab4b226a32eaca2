/** The kinds of a function: what most messages are for at once, others when the first message for one of them comes. */
import type { Operator } from "../core/operator.ts";
import { type Delivered, longestBody } from "../engine/intake.ts";
import { readMessage } from "../engine/message.ts";
import { settledMs, timing } from "../engine/settings.ts";
import { type Family, families, runs } from "../kube/families.ts";
import { pods } from "../kube/resources.ts";
import { sparkConnects } from "../spark/connect/resource.ts";
import { scheduledSparkApplications } from "../spark/scheduled/resource.ts";
import type { GangMode } from "../volcano/gang/scheduler.ts";
import { cronJobs, jobFlows, jobs, jobTemplates, podGroups, queues } from "../volcano/resource.ts";
import { inCluster } from "./world.ts";

const laterWith = (gang: GangMode): Readonly<Record<string, () => Promise<Operator<unknown>>>> => ({
  [queues.kind]: async () => (await import("../volcano/queue/operator.ts")).volcanoQueue(gang),
  [pods.kind]: async () => (await import("../volcano/podgroup/grouping.ts")).volcanoPod,
  [jobs.kind]: async () => (await import("../volcano/job/operator.ts")).volcanoJob,
  [cronJobs.kind]: async () =>
    (await import("../volcano/cron/operator.ts")).volcanoCronJob({ settledMs: settledMs(timing) }),
  [jobFlows.kind]: async () =>
    (await import("../volcano/flow/operator.ts")).volcanoJobFlow({ settledMs: settledMs(timing) }),
  [jobTemplates.kind]: async () => (await import("../volcano/flow/template.ts")).volcanoJobTemplate,
  [scheduledSparkApplications.kind]: async () =>
    (await import("../spark/scheduled/operator.ts")).scheduledSparkApplication({ settledMs: settledMs(timing) }),
  [sparkConnects.kind]: async () =>
    (await import("../spark/connect/operator.ts")).sparkConnect({ apiServer: inCluster }),
});

const ofVolcano = [jobs, cronJobs, jobFlows, jobTemplates, queues];

/** Where those that are loaded later stand. */
const places = [...ofVolcano, scheduledSparkApplications, sparkConnects].map((resource) => ({
  kind: resource.kind,
  resource,
}));

/** A pod's group is Volcano's. */
const pod = { kind: pods.kind, resource: pods, family: podGroups.group };

export type Families = {
  readonly kinds: readonly Pick<Operator<unknown>, "kind" | "resource" | "family">[];
  /** Of a kind that messages have been prepared for. */
  readonly operatorOf: (kind: string) => Operator<unknown> | undefined;
  prepare(delivered: readonly Delivered[]): Promise<void>;
};

/** `gang`: who lets groups of pods in; `chosen`: the families that are run. */
export const openFamilies = (
  first: readonly Operator<unknown>[],
  gang: GangMode = "auto",
  chosen: readonly Family[] = families,
): Families => {
  const later = laterWith(gang);
  const kinds = [...first, ...places, pod].filter(runs(chosen));
  const known = new Map(first.map((operator) => [operator.kind, operator]));
  const load = async (kind: string): Promise<void> => {
    const isRun = kinds.some((one) => one.kind === kind);
    const loader = known.has(kind) || !isRun ? undefined : later[kind];
    if (loader !== undefined) known.set(kind, await loader());
  };
  return {
    kinds,
    operatorOf: (kind) => known.get(kind),
    prepare: async (delivered) => {
      const short = delivered.filter(({ body }) => body.length <= longestBody);
      const kinds = new Set(short.map(({ body }) => readMessage(body)?.kind));
      await Promise.all([...kinds].map((kind) => (kind === undefined ? undefined : load(kind))));
    },
  };
};
