/** Live reads of queues and namespaces for admission, within the time that the API server waits for an answer. */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import type { Stored } from "../../core/object.ts";
import { namespaces } from "../../kube/resources.ts";
import { queues } from "../../volcano/schema/resource.ts";
import type { Surroundings } from "./volcano.ts";

/** Timeout of one read, ms: two reads take at most 2 s of the 3 s for the whole answer. */
const timeoutMs = 1_000;

/** The longest age of a reused listing, ms: a burst of requests lists once. */
const freshMs = 1_000;

export const surroundingsOf = (transport: Transport, now: () => number): Surroundings => {
  const cluster = openCluster(transport, { timeoutMs });
  let held: { readonly at: number; readonly found: Promise<readonly Stored[]> } | undefined;
  const asked = async (): Promise<readonly Stored[]> =>
    (await cluster.list({ do: "list", resource: queues, namespace: "", labels: {} })).value;
  return {
    queues: (fresh) => {
      if (!fresh && held !== undefined && now() - held.at < freshMs) return held.found;
      const found = asked();
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
