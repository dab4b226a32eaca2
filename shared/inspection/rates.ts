/**
 * Prices by node. The labels of nodes are listed at most once in five minutes, and only where a price depends on them;
 * a node that has gone is remembered, because its pods are paid for all the same.
 */
import { pages } from "../adapters/kubernetes/requests.ts";
import { forgetOldest } from "../core/cache.ts";
import { ApiError, type Transport } from "../core/http.ts";
import { type Prices, type Rate, rateWith } from "../kube/prices.ts";
import { nodes } from "../kube/resources.ts";

export type Rates = {
  readonly currency: string;
  /** The usual price. */
  readonly usual: Rate;
  /** True: prices depend on nodes. */
  readonly isByNode: boolean;
  /** The price on a node; undefined: prices depend on nodes, and this node is not known. */
  on(node: string | undefined): Rate | undefined;
  /** Lists the nodes where that is due. */
  refresh(): Promise<void>;
};

const freshMs = 300_000;
/** The most nodes that are remembered. */
const mostNodes = 20_000;

/** Opens the prices, without a request; undefined where none are set. `now`: ms. */
export const openRates = (transport: Transport, prices: Prices | undefined, now: () => number): Rates | undefined => {
  if (prices === undefined) return undefined;
  const { currency, core, gib } = prices;
  const usual = { core, gib };
  const isByNode = prices.nodes.length > 0;
  const known = new Map<string, Rate>();
  let dueAt = isByNode ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    dueAt = now() + freshMs;
    try {
      for await (const { items } of pages(transport, { resource: nodes, metadataOnly: true }))
        for (const { metadata } of items) {
          known.delete(metadata.name);
          known.set(metadata.name, rateWith(prices, metadata.labels ?? {}));
          forgetOldest(known, mostNodes);
        }
    } catch (cause) {
      // Without the right to list nodes, or without an answer, the nodes that are known stay known.
      if (!(cause instanceof ApiError)) throw cause;
    } finally {
      reading = undefined;
    }
  };
  return {
    ...{ currency, usual, isByNode },
    on: (node) => (isByNode ? known.get(node ?? "") : usual),
    refresh: () => {
      if (now() >= dueAt) reading ??= read();
      return reading ?? Promise.resolve();
    },
  };
};
