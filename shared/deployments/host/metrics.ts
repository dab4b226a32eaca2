/**
 * The metrics of a process. Steps, requests and the queue feed counters and histograms; gauges are counted from the
 * objects at each scrape, of the api function, too; metrics of one-time occurrences are shown as long as their object
 * exists.
 */
import { type Family, openMetrics, openProcessMetrics } from "../../adapters/telemetry/metrics.ts";
import { forgetOldest } from "../../core/cache.ts";
import type { HttpResponse, Transport } from "../../core/http.ts";
import type { Message } from "../../core/key.ts";
import { type Figure, type Meter, type MetricSample, ownFigures, ownLabels } from "../../core/metric.ts";
import type { Ending } from "../../engine/context/world.ts";
import type { Queue } from "../../engine/ports.ts";
import type { Standing } from "../../forward/controller-detection.ts";
import type { Rates } from "../../inspection/rates.ts";
import { sparkFigures } from "../../spark/application/metrics.ts";
import { volcanoFigures } from "../../volcano/metrics.ts";
import { openAccess } from "../common/cluster-access.ts";
import { type NamespaceScope, openNamespaceScope } from "../common/namespaces.ts";
import type { Records } from "../common/records.ts";
import { censusOf, standbySamples } from "../resync/gauges.ts";
import type { Naming } from "../settings/conversions.ts";
import type { Access, Place } from "../settings/formats.ts";

/** The most objects per metric; beyond that, the oldest are dropped. */
const mostObjects = 10_000;

export type LastingSamples = {
  /** Remembers the lasting samples, and returns the others. */
  past(measures: readonly MetricSample[]): readonly MetricSample[];
  /** Replaces each lasting sample of the census by the remembered one of its object, and drops those without one. */
  among(census: readonly MetricSample[]): readonly MetricSample[];
};

const uidOf = ({ of }: MetricSample): string => of["uid"] ?? "";

/** Keeps the first sample of a version. A sample of another version replaces it and counts as the newest. */
const remember = (known: Map<string, MetricSample>, measure: MetricSample): void => {
  const uid = uidOf(measure);
  if (known.get(uid)?.of["version"] === measure.of["version"]) return;
  known.delete(uid);
  known.set(uid, measure);
  forgetOldest(known, mostObjects);
};

export const openLasting = (figures: readonly Figure[]): LastingSamples => {
  const kept = new Map(
    figures.flatMap(({ name, lasting }) =>
      lasting === true ? [[name, new Map<string, MetricSample>()] as const] : [],
    ),
  );
  return {
    past: (measures) =>
      measures.filter((measure) => {
        const known = kept.get(measure.name);
        if (known !== undefined) remember(known, measure);
        return known === undefined;
      }),
    among: (census) =>
      census.flatMap((measure) => {
        const known = kept.get(measure.name);
        return known === undefined ? [measure] : (known.get(uidOf(measure)) ?? []);
      }),
  };
};

/** Upstream's flags at their defaults. */
export const upstreamNaming: Naming = {
  prefix: "",
  labels: [],
  submitBuckets: [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256],
  startBuckets: [30, 60, 90, 120, 150, 180, 210, 240, 270, 300],
};

const bucketsOf = ({ submitBuckets, startBuckets }: Naming, name: string): { buckets?: readonly number[] } => {
  if (name.endsWith("submit_latency_seconds_histogram")) return { buckets: submitBuckets };
  return name.endsWith("start_latency_seconds_histogram") ? { buckets: startBuckets } : {};
};

/** Returns every metric of a process. */
export const familiesFor = (naming: Naming): readonly Family[] => [
  ...sparkFigures.map((figure) => ({
    figure: { ...figure, ...bucketsOf(naming, figure.name) },
    labels: naming.labels,
    prefix: naming.prefix,
  })),
  ...volcanoFigures.map(({ labels, ...figure }) => ({ figure, labels, prefix: "" })),
  ...ownFigures.map((figure) => ({ figure, labels: ownLabels[figure.name], prefix: "" })),
];

export type HostMeter = {
  readonly meter: Meter;
  /** Wraps a transport: each request is counted. */
  counted(transport: Transport): Transport;
  /** Wraps a queue: the time at which each message becomes ready is noted. */
  timed(queue: Queue): Queue;
  /** Takes a step of these messages, and measures it. */
  step(messages: readonly Message[], take: () => Promise<Ending | undefined>): Promise<Ending | undefined>;
  /** Measures calls of a function as steps, by their end. */
  call<
    C extends { readonly did: string },
    D extends { readonly messages: readonly Message[] },
    Rest extends readonly unknown[],
  >(call: (delivery: D, ...rest: Rest) => Promise<C>): (delivery: D, ...rest: Rest) => Promise<C>;
  scrape(): Promise<Scrape>;
};

export type Scrape = { readonly text: string; readonly type: string };

/** Adds the metrics of the process itself after the given ones. */
export const withProcess = (scrape: () => Promise<Scrape>): (() => Promise<Scrape>) => {
  const { render } = openProcessMetrics();
  return async () => {
    const { text, type } = await scrape();
    return { text: `${text}${await render()}`, type };
  };
};

/** By the name of a metric of usage: the metric of its money, and what its amounts are. */
const pricedAs: Readonly<Record<string, readonly [name: string, of: keyof Rates["usual"]]>> = {
  rekindle_executor_core_seconds_total: ["rekindle_executor_cost_total", "core"],
  rekindle_executor_gib_seconds_total: ["rekindle_executor_cost_total", "gib"],
  rekindle_lost_core_seconds_total: ["rekindle_lost_cost_total", "core"],
  rekindle_lost_gib_seconds_total: ["rekindle_lost_cost_total", "gib"],
};

/** Adds the money for what samples of usage count, by the price of their node, or else the usual one. */
export const withCosts = (measures: readonly MetricSample[], rates: Rates | undefined): readonly MetricSample[] => {
  if (rates === undefined) return measures;
  const costs = measures.flatMap(({ name, value, of }): readonly MetricSample[] => {
    const [cost, what] = pricedAs[name] ?? [];
    if (cost === undefined || what === undefined) return [];
    const { namespace = "", node } = of;
    const { [what]: rate } = rates.on(node) ?? rates.usual;
    return [{ do: "count", name: cost, value: (value / 3_600) * rate, of: { namespace, currency: rates.currency } }];
  });
  return [...measures, ...costs];
};

type Parts = {
  /** False: no objects are counted at a scrape; absent: they are. */
  readonly gauges?: boolean;
  /** Undefined: no prices are set. */
  readonly rates?: Rates | undefined;
  readonly naming: Naming;
  readonly transport: Transport;
  readonly hints?: Records["hints"];
  readonly namespaceScope: NamespaceScope;
  /** The other controllers at work; absent: this process does not know. */
  readonly standing?: (() => Standing | Promise<Standing>) | undefined;
  /** Changes that no message had told; absent: this process does not know. */
  readonly unheard?: (() => number | Promise<number>) | undefined;
  readonly now: () => number;
};

const own = (
  act: MetricSample["do"],
  name: (typeof ownFigures)[number]["name"],
  value: number,
  of = {},
): MetricSample => ({
  do: act,
  name,
  value,
  of,
});

const counting = (transport: Transport, meter: Meter): Transport => {
  const count = (method: string, code: number): void =>
    meter([own("count", "rekindle_api_requests_total", 1, { method, code: String(code) })]);
  const noted = async <Answer extends Pick<HttpResponse, "status">>(
    method: string,
    answered: Promise<Answer>,
  ): Promise<Answer> => {
    try {
      const answer = await answered;
      count(method, answer.status);
      return answer;
    } catch (cause) {
      count(method, 0);
      throw cause;
    }
  };
  return {
    send: (request) => noted(request.method, transport.send(request)),
    stream: (request) => noted(request.method, transport.stream(request)),
  };
};

/** True for a metric that any process can report at any time, because it is counted from the objects. */
const isCounted = ({ figure: { kind, ofObjects, lasting } }: Family): boolean =>
  lasting !== true && (kind === "gauge" || ofObjects === true);

/**
 * Opens only the metrics that are counted from objects, under the same names as a host's. Counters of occurrences
 * belong to the process in which they occur.
 */
export const openGauges = (parts: Parts, without: readonly string[] = []): (() => Promise<Scrape>) => {
  const families = familiesFor(parts.naming).filter((one) => isCounted(one) && !without.includes(one.figure.name));
  const { render, contentType } = openMetrics(families);
  return async () => ({ text: await render(await censusOf(parts)), type: contentType });
};

export const openMetering = (parts: Parts): HostMeter => {
  const families = familiesFor(parts.naming);
  const { meter: count, render, contentType } = openMetrics(families);
  const lasting = openLasting(families.map(({ figure }) => figure));
  const { now, rates } = parts;
  const meter: Meter = (measures) => count(lasting.past(withCosts(measures, rates)));
  const ready = new WeakMap<Message, number>();
  const measure = async <E extends { readonly did: string }>(
    messages: readonly Message[],
    take: () => Promise<E | undefined>,
  ): Promise<E | undefined> => {
    const began = now();
    const since = messages.flatMap((message) => ready.get(message) ?? []);
    if (since.length > 0)
      meter([own("observe", "rekindle_queue_age_seconds", Math.max(0, began - Math.min(...since)) / 1_000)]);
    const ending = await take();
    meter([
      own("count", "rekindle_steps_total", 1, { ending: ending?.did ?? "failed" }),
      own("observe", "rekindle_step_duration_seconds", (now() - began) / 1_000),
    ]);
    return ending;
  };
  return {
    meter,
    counted: (transport) => counting(transport, meter),
    timed: (queue) => ({
      send: (message, id) => {
        ready.set(message, now());
        return queue.send(message, id);
      },
      sendLater: (message, id, delayMs) => {
        ready.set(message, now() + delayMs);
        return queue.sendLater(message, id, delayMs);
      },
    }),
    step: measure,
    call:
      (call) =>
      async (delivery, ...rest) => {
        const called = call(delivery, ...rest);
        await measure(delivery.messages, () => called);
        return await called;
      },
    scrape: async () => {
      await rates?.refresh();
      const counted = parts.gauges === false ? await standbySamples(parts) : await censusOf(parts);
      return { text: await render(lasting.among(counted)), type: contentType };
    },
  };
};

/**
 * Metrics that are left out with a table: counting needs the right to list its records, and this function may only read
 * single ones.
 */
const ofRecords = ["rekindle_updates_waiting"];

const everywhere = { namespaces: [], report: () => {}, now: Date.now };

/** Opens everything without a request. */
export const gaugesFrom = (
  access: Access,
  kept: Place,
  called: Pick<Naming, "prefix" | "labels">,
  health: Pick<Parts, "standing" | "unheard"> = {},
): (() => Promise<Scrape>) => {
  const transport = openAccess(access, { userAgent: "rekindle-api" });
  const namespaceScope = openNamespaceScope({ ...everywhere, transport });
  const parts = { naming: { ...upstreamNaming, ...called }, transport, namespaceScope, now: Date.now };
  if (kept.in === "kubernetes") return openGauges({ ...parts, ...health });
  return openGauges({ ...parts, ...health, hints: async () => [] }, ofRecords);
};
