/** Metrics of the api function: gauges of the cluster's objects, counted at each scrape. */
import { openAccess } from "../common/cluster-access.ts";
import { openNamespaceScope } from "../common/namespaces.ts";
import { openGauges, type Scrape, upstreamNaming } from "../host/metrics.ts";
import type { Access } from "../settings/cluster.ts";
import type { Naming } from "../settings/conversions.ts";
import type { Place } from "../settings/formats.ts";

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
): (() => Promise<Scrape>) => {
  const transport = openAccess(access, { userAgent: "rekindle-api" });
  const namespaceScope = openNamespaceScope({ ...everywhere, transport });
  const naming = { ...upstreamNaming, ...called };
  if (kept.in === "kubernetes") return openGauges({ naming, transport, namespaceScope });
  return openGauges({ naming, transport, namespaceScope, hints: async () => [] }, ofRecords);
};
