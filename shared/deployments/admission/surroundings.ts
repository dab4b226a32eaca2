/**
 * Reads of admission from the cluster: Volcano's queues, namespaces, and the quotas of a namespace with what the API server
 * adds to pods there, each kept for a short time.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import type { Resource, Stored } from "../../core/object.ts";
import { errorText } from "../../core/text.ts";
import { limitRanges, noPodDefaults, podDefaultsOf, runtimeClasses } from "../../kube/pod-defaults.ts";
import { namespaces, resourceQuotas } from "../../kube/resources.ts";
import type { NamespaceRoom } from "../../spark/admission/quota.ts";
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

/** Timeout of one read, ms: two after each other take at most 2.6 s of the 3 s for the whole answer. */
const quotaTimeoutMs = 1_300;
const mostNamespaces = 1_000;

export const quotasOf = (transport: Transport, now: () => number): Quotas => {
  const cluster = openCluster(transport, { timeoutMs: quotaTimeoutMs });
  const known = new Map<string, { readonly at: number; readonly found: Promise<NamespaceRoom> }>();
  const allOf = async (resource: Resource, namespace: string): Promise<readonly Stored[]> =>
    (await cluster.list({ do: "list", resource, namespace, labels: {} })).value;
  const listed = async (namespace: string): Promise<NamespaceRoom> => {
    const quotas = await allOf(resourceQuotas, namespace);
    if (quotas.length === 0) return { quotas, defaults: noPodDefaults };
    const unread: string[] = [];
    const added = async (what: string, resource: Resource, place: string): Promise<readonly Stored[]> => {
      try {
        return await allOf(resource, place);
      } catch (cause) {
        if (!(cause instanceof ApiError && cause.status === 404))
          unread.push(`${what} could not be read, so its pods count without them: ${errorText(cause)}`);
        return [];
      }
    };
    const [ranges, classes] = await Promise.all([
      added("the LimitRanges of its namespace", limitRanges, namespace),
      added("RuntimeClasses", runtimeClasses, ""),
    ]);
    return { quotas, defaults: podDefaultsOf(ranges, classes), unread };
  };
  return (namespace) => {
    const held = known.get(namespace);
    if (held !== undefined && now() - held.at < freshMs) return held.found;
    if (known.size >= mostNamespaces) known.clear();
    const found = listed(namespace);
    known.set(namespace, { at: now(), found });
    // A failed read is not reused.
    const forget = (): boolean => known.delete(namespace);
    found.then(({ unread = [] }) => unread.length > 0 && forget(), forget);
    return found;
  };
};
