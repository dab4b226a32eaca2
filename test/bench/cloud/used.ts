/** Counts the use of everything that is billed, from the figures of the components. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { readTemplate } from "../../../infra/aws/template.ts";
import { billedMs, type Entry } from "../../real/lambda/ledger.ts";
import { type Bench, costOf } from "../costs.ts";
import type { Use } from "./bill.ts";
import type { Units } from "./units.ts";

/** Memory for one whole processor in Lambda, MB. */
const wholeProcessorMb = 1_769;
/** START, END and REPORT, which the platform logs for each invocation. */
const platformBytes = 420;

const template = readTemplate(readFileSync(new URL("../../../infra/aws/template.yaml", import.meta.url), "utf8"));

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

/** Returns the number of metrics that the template's alarms read. */
export const alarmMetrics = (): number =>
  Object.values(template.Resources)
    .filter(({ Type }) => Type === "AWS::CloudWatch::Alarm")
    .reduce((sum, { Properties: { Metrics } }) => sum + (Array.isArray(Metrics) ? Metrics.length - 1 : 1), 0);

export type Counted = Bench & { readonly units: Units; readonly logs: string };

const logBytes = ({ logs }: Counted): number =>
  ["reconcile", "wake"].reduce(
    (sum, name) => sum + (statSync(join(logs, `${name}.log`), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

/** The use, and the number of timers that are due long after the end. */
export type Used = { readonly use: Use; readonly timers: number };

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
  return { use, timers: cost.timers };
};
