/** Live reads of quotas for admission, within the time that the API server waits for an answer. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import { resourceQuotas } from "../../kube/resources.ts";
import type { Quotas } from "./app.ts";

/** Timeout of one read, ms: half of the 3 s for the whole answer. */
const timeoutMs = 1_500;

/**
 * The longest age of a reused listing, ms: a burst of requests lists once. A controller counts the usage, which is no
 * fresher than this anyway.
 */
const freshMs = 1_000;
const mostNamespaces = 1_000;

export const quotasOf = (transport: Transport, now: () => number): Quotas => {
  const cluster = openCluster(transport, { timeoutMs });
  const known = new Map<string, { readonly at: number; readonly found: Promise<readonly unknown[]> }>();
  const asked = async (namespace: string): Promise<readonly unknown[]> =>
    (await cluster.list({ do: "list", resource: resourceQuotas, namespace, labels: {} })).value;
  return (namespace) => {
    const held = known.get(namespace);
    if (held !== undefined && now() - held.at < freshMs) return held.found;
    if (known.size >= mostNamespaces) known.clear();
    const found = asked(namespace);
    // A failed read is not reused.
    found.catch(() => known.delete(namespace));
    known.set(namespace, { at: now(), found });
    return found;
  };
};
