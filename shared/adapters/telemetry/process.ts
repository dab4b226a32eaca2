/**
 * Metrics of the process itself, kept by prom-client under the usual names `process_*` and `nodejs_*`. The upstream
 * operators are Go programs whose dashboards read `go_goroutines`; the closest metric of Node.js replaces it.
 */
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

export type ProcessMetrics = {
  /** In the text format of Prometheus. */
  render(): Promise<string>;
};

export const openProcessMetrics = (): ProcessMetrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const goroutines: Gauge = new Gauge({
    name: "go_goroutines",
    help: "Work that this process has open: requests, connections and timers of Node.js. Not goroutines: it stands in for them in dashboards of upstream's operators, which read this name.",
    registers: [registry],
    collect: () => goroutines.set(process.getActiveResourcesInfo().length),
  });
  return { render: () => registry.metrics() };
};
