/** The calls of the bell as the API server counts them. */
import type { Api } from "../../real/cluster/api.ts";

/** Calls so far: all, those that failed and were let pass, and the time that their writers waited, seconds. */
export type Rings = { readonly calls: number; readonly lost: number; readonly seconds: number };

const prefix = "apiserver_admission_webhook_";

/** Returns the sum of a metric's lines that are about the bell. */
const sumOf = (lines: readonly string[], metric: string): number =>
  lines
    .filter((line) => line.startsWith(`${prefix}${metric}{`) && line.includes('.bell.rekindle.dev"'))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);

export const ringsSoFar = async (api: Api): Promise<Rings> => {
  const lines = String((await api.call("GET", "/metrics")).body).split("\n");
  return {
    calls: sumOf(lines, "request_total"),
    lost: sumOf(lines, "fail_open_count"),
    seconds: sumOf(lines, "admission_duration_seconds_sum"),
  };
};

/** Returns the difference of two counts. */
export const ringsBetween = (before: Rings, after: Rings): Rings => ({
  calls: after.calls - before.calls,
  lost: after.lost - before.lost,
  seconds: after.seconds - before.seconds,
});
