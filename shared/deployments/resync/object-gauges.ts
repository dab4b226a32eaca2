/** Gauges of the cluster's objects, counted from the objects themselves at each scrape of a host and in each resync. */
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import type { MetricSample } from "../../core/metric.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { undeliveredOf } from "../../forward/resync.ts";
import { families as allFamilies, type Family, runs } from "../../kube/families.ts";
import { gaugesOf } from "../../spark/application/metrics.ts";
import { sparkApplications } from "../../spark/schema/resource.ts";
import { gaugesOfGroup, gaugesOfJob, gaugesOfQueue } from "../../volcano/metrics.ts";
import { jobs, podGroups, queues } from "../../volcano/schema/resource.ts";
import type { NamespaceScope } from "../common/namespaces.ts";
import type { Records } from "../common/records.ts";
import { hintsIn } from "./sweep.ts";

type Counted = {
  readonly resource: Resource;
  readonly samplesOf: (object: Stored) => readonly MetricSample[];
  /** True for cluster-scoped kinds: their objects are counted whatever the scope. */
  readonly everywhere?: true;
};

const kinds: readonly Counted[] = [
  { resource: sparkApplications, samplesOf: gaugesOf },
  { resource: jobs, samplesOf: gaugesOfJob },
  { resource: podGroups, samplesOf: gaugesOfGroup },
  { resource: queues, samplesOf: gaugesOfQueue, everywhere: true },
];

type Parts = {
  readonly transport: Transport;
  readonly hints?: Records["hints"] | undefined;
  readonly namespaceScope: Pick<NamespaceScope, "watched" | "within">;
  /** Families whose kinds are counted; absent: all. */
  readonly families?: readonly Family[];
};

/** True where a kind has no objects for this caller: it is forbidden or not served. */
const isNone = (cause: unknown): boolean => cause instanceof ApiError && [403, 404].includes(cause.status);

/**
 * Counts the objects in scope, page by page, so that only their samples stay in memory. A kind that is forbidden or not
 * served counts as empty. So does a kind that is not listed to its end, in all namespaces: a part would look like a fall.
 */
export const censusOf = async (parts: Parts): Promise<readonly MetricSample[]> => {
  const { transport, hints: known, namespaceScope, families = allFamilies } = parts;
  const within = await namespaceScope.within().catch(() => () => false);
  const watched = namespaceScope.watched.length === 0 ? [""] : namespaceScope.watched;
  const ofPlace = async ({ resource, samplesOf, everywhere }: Counted, namespace: string) => {
    const samples: MetricSample[] = [];
    for await (const { items } of pages(transport, { resource, namespace }))
      for (const object of items)
        if (everywhere === true || within(object.metadata.namespace ?? "")) samples.push(...samplesOf(object));
    return samples;
  };
  const ofKind = async (kind: Counted): Promise<readonly MetricSample[]> => {
    const places = kind.everywhere === true ? [""] : watched;
    const lists = places.map((namespace) =>
      ofPlace(kind, namespace).catch((cause: unknown) => {
        if (isNone(cause)) return [];
        throw cause;
      }),
    );
    return (await Promise.all(lists).catch(() => [])).flat();
  };
  const samples = await Promise.all(kinds.filter(runs(families)).map(ofKind));
  const hints = await hintsIn({ transport, hints: known, namespaces: namespaceScope.watched }).catch(() => []);
  const late = undeliveredOf("", hints, "").filter(({ message }) => within(message.namespace));
  return [...samples.flat(), { do: "count", name: "rekindle_updates_waiting", value: late.length, of: {} }];
};
