/** Gauges of the cluster's objects, counted from the objects themselves at each scrape of a host and in each resync. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import type { MetricSample } from "../../core/metric.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { undeliveredOf } from "../../forward/undelivered.ts";
import { families as allFamilies, type Family, runs } from "../../kube/families.ts";
import { gaugesOf } from "../../spark/application/metrics.ts";
import { sparkApplications } from "../../spark/application/spec/resource.ts";
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
  readonly territory: Pick<NamespaceScope, "watched" | "within">;
  /** Families whose kinds are counted; absent: all. */
  readonly families?: readonly Family[];
};

/** Counts the objects in scope. A kind that is forbidden or not served counts as empty. */
export const censusOf = async (parts: Parts): Promise<readonly MetricSample[]> => {
  const { transport, hints: known, territory, families = allFamilies } = parts;
  const cluster = openCluster(transport);
  const within = await territory.within().catch(() => () => false);
  const watched = territory.watched.length === 0 ? [""] : territory.watched;
  const ofKind = async ({ resource, samplesOf, everywhere }: Counted): Promise<readonly MetricSample[]> => {
    const places = everywhere === true ? [""] : watched;
    const lists = places.map((namespace) =>
      cluster.list({ do: "list", resource, namespace, labels: {} }).catch(() => ({ value: [] })),
    );
    const found = (await Promise.all(lists)).flatMap(({ value }) => value);
    return found
      .filter(({ metadata }) => everywhere === true || within(metadata.namespace ?? ""))
      .flatMap((object) => samplesOf(object));
  };
  const samples = await Promise.all(kinds.filter(runs(families)).map(ofKind));
  const hints = await hintsIn({ transport, hints: known, namespaces: territory.watched }).catch(() => []);
  const late = undeliveredOf("", hints, "").filter(({ message }) => within(message.namespace));
  return [...samples.flat(), { do: "count", name: "rekindle_updates_waiting", value: late.length, of: {} }];
};
