/**
 * Reads of admission from the cluster: Volcano's queues, namespaces, and the quotas of a namespace, each kept for a
 * short time.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import type { Stored } from "../../core/object.ts";
import { namespaces, resourceQuotas } from "../../kube/resources.ts";
import { queues } from "../../volcano/schema/resource.ts";
import type { Quotas, ReviewReads } from "./app.ts";

/** Timeout of one read, ms: two reads take at most 2 s of the 3 s for the whole answer. */
const timeoutMs = 1_000;

/** The longest age of a reused listing, ms: a burst of requests lists once. */
const freshMs = 1_000;

export const surroundingsOf = (transport: Transport, now: () => number): ReviewReads => {
  const cluster = openCluster(transport, { timeoutMs });
  let held: { readonly at: number; readonly found: Promise<readonly Stored[]> } | undefined;
  const listed = async (): Promise<readonly Stored[]> =>
    (await cluster.list({ do: "list", resource: queues, namespace: "", labels: {} })).value;
  return {
    queues: (fresh) => {
      if (!fresh && held !== undefined && now() - held.at < freshMs) return held.found;
      const found = listed();
      found.catch(() => {
        held = undefined;
      });
      held = { at: now(), found };
      return found;
    },
    annotations: async (namespace) =>
      (await cluster.get({ resource: namespaces, name: namespace })).value?.metadata.annotations ?? {},
  };
};

/** Timeout of one read, ms: half of the 3 s for the whole answer. */
const quotaTimeoutMs = 1_500;
const mostNamespaces = 1_000;

export const quotasOf = (transport: Transport, now: () => number): Quotas => {
  const cluster = openCluster(transport, { timeoutMs: quotaTimeoutMs });
  const known = new Map<string, { readonly at: number; readonly found: Promise<readonly unknown[]> }>();
  const listed = async (namespace: string): Promise<readonly unknown[]> =>
    (await cluster.list({ do: "list", resource: resourceQuotas, namespace, labels: {} })).value;
  return (namespace) => {
    const held = known.get(namespace);
    if (held !== undefined && now() - held.at < freshMs) return held.found;
    if (known.size >= mostNamespaces) known.clear();
    const found = listed(namespace);
    // A failed read is not reused.
    found.catch(() => known.delete(namespace));
    known.set(namespace, { at: now(), found });
    return found;
  };
};
