/** Quotas as admission asks for them: live, and within the time that the API server waits for an answer. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import { resourceQuotas } from "../../kube/resources.ts";
import type { Quotas } from "./app.ts";

/** Half of the 3 s that the whole answer may take. */
const timeoutMs = 1_500;

/** A burst asks once: usage is counted by a controller, and is no younger than this anyway. */
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
    // What failed is asked for again.
    found.catch(() => known.delete(namespace));
    known.set(namespace, { at: now(), found });
    return found;
  };
};
