/** The end of a resync: the gauges of the cluster's objects, as lines that CloudWatch turns into metrics. */
import { gaugeLines } from "../../adapters/telemetry/emf.ts";
import type { Transport } from "../../core/http.ts";
import type { Report } from "../../engine/ports.ts";
import { resyncGauges } from "../common/function-figures.ts";
import { censusOf } from "./object-gauges.ts";

type Parts = Parameters<typeof censusOf>[0] & {
  /** The alias of the cluster, under which CloudWatch keeps the gauges. */
  readonly cluster: string;
  readonly print: (line: string) => void;
  readonly report: Report;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Begins no request once `late` is true, and remembers that it has refused one. */
const timely = (transport: Transport, late: () => boolean) => {
  let cut = false;
  const refused = (): boolean => {
    cut ||= late();
    return cut;
  };
  const limited: Transport = {
    send: async (request) => {
      if (refused()) throw new Error("the time of a resync is over");
      return await transport.send(request);
    },
    stream: transport.stream,
  };
  return { limited, refused };
};

/**
 * Opens the telling of gauges. `late` is called before each request; a count that was cut short is not told, because it
 * would be too small.
 */
export const openGaugeLines =
  ({ cluster, print, report, now, ...parts }: Parts) =>
  async (late: () => boolean): Promise<void> => {
    const { limited, refused } = timely(parts.transport, late);
    const samples = refused() ? [] : await censusOf({ ...parts, transport: limited });
    if (refused()) {
      report("warn", "resync: out of time, this run tells no gauges");
      return;
    }
    for (const line of gaugeLines(resyncGauges, samples, { cluster, now: now() })) print(line);
  };
