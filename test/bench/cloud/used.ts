/** Counts the use of everything that is billed, from the figures of the components. */
import { statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { gaugeLines } from "../../../shared/adapters/telemetry/emf.ts";
import { resyncGauges } from "../../../shared/deployments/resync/gauges.ts";
import { gaugesOfQueue } from "../../../shared/volcano/metrics.ts";
import { billedMs, type Entry } from "../../real/lambda/ledger.ts";
import { template } from "../../support/aws-template.ts";
import { type Bench, type Cost, costOf } from "../costs.ts";
import type { Units } from "./units.ts";
import type { Use } from "./use.ts";

/** Memory for one whole processor in Lambda, MB. */
const wholeProcessorMb = 1_769;
/** START, END and REPORT, which the platform logs for each invocation. */
const platformBytes = 420;

/** Returns the memory of a function in the template, MB. */
const memoryOf = (name: string): number => {
  const id = name.replace(/^./, (first) => first.toUpperCase());
  return Number(template.Resources[id]?.Properties["MemorySize"] ?? template.Globals.Function["MemorySize"]);
};

/**
 * In Lambda a function's share of a processor grows with its memory, so its duration is at least its CPU time divided
 * by that share.
 */
const gigabyteSecondsOf = (entry: Entry): number => {
  const memory = memoryOf(entry.name);
  const ms = Math.max(billedMs(entry), ((entry.cpuMs ?? 0) * wholeProcessorMb) / memory);
  return (ms / 1_000) * (memory / 1_024);
};

/** Returns the number of metrics that the template's alarms read; `few`: those of `Alarms: FEW`, which need no condition. */
export const alarmMetrics = (few = false): number =>
  Object.values(template.Resources)
    .filter(({ Type, Condition }) => Type === "AWS::CloudWatch::Alarm" && (!few || Condition === undefined))
    .reduce((sum, { Properties: { Metrics } }) => sum + (Array.isArray(Metrics) ? Metrics.length - 1 : 1), 0);

/** Returns the number of dashboards in the template. */
export const dashboards = (): number =>
  Object.values(template.Resources).filter(({ Type }) => Type === "AWS::CloudWatch::Dashboard").length;

/** The queues that a host and functions make where Volcano's kinds are served; nothing runs in them. */
const quietQueues = ["root", "default"].map((name) => ({
  ...{
    apiVersion: "scheduling.volcano.sh/v1beta1",
    kind: "Queue",
    metadata: { name, uid: name, resourceVersion: "1" },
  },
  status: { state: "Open" },
}));

const metricsOf = z.object({
  _aws: z.object({
    CloudWatchMetrics: z.array(z.object({ Dimensions: z.array(z.unknown()), Metrics: z.array(z.unknown()) })),
  }),
});

/** Returns the number of metrics that a resync keeps alive in a cluster in which nothing runs. */
export const restingGauges = (): number =>
  gaugeLines(resyncGauges, quietQueues.flatMap(gaugesOfQueue), { cluster: "c", now: 0 })
    .flatMap((line) => metricsOf.parse(JSON.parse(line))._aws.CloudWatchMetrics)
    .reduce((sum, { Dimensions, Metrics }) => sum + Dimensions.length * Metrics.length, 0);

export type Counted = Bench & { readonly units: Units; readonly logs: string };

const logBytes = ({ logs }: Counted): number =>
  ["reconcile", "wake"].reduce(
    (sum, name) => sum + (statSync(join(logs, `${name}.log`), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

/** The use, its parts, and the number of timers that are due long after the end. */
export type Used = { readonly use: Use; readonly cost: Cost; readonly timers: number };

/** Returns the use by invocations, without the queue's requests. */
export const useOf = (
  entries: readonly Entry[],
  bytes: number,
): Pick<Use, "invocations" | "gigabyteSeconds" | "logBytes"> => ({
  invocations: entries.length,
  gigabyteSeconds: entries.reduce((sum, entry) => sum + gigabyteSecondsOf(entry), 0),
  logBytes: bytes + entries.length * platformBytes,
});

/** Runs the work until nothing of it is left, and returns its use. */
export const usedBy = async (bench: Counted, work: () => Promise<unknown>): Promise<Used> => {
  const before = { units: bench.units.used(), bytes: logBytes(bench) };
  const cost = await costOf(bench, work);
  const { writes, reads } = bench.units.used();
  const use = {
    ...useOf(cost.entries, logBytes(bench) - before.bytes),
    ...{ sqs: cost.sqs, api: cost.requests.length },
    ...{ writes: writes - before.units.writes, reads: reads - before.units.reads },
  };
  return { use, cost, timers: cost.timers };
};
