/** Acknowledgements that listeners send in a request of their own, signed with the key that signs their updates. */
import { dedupe, digest, type Key } from "../../core/key.ts";
import { listenerKey, type Signed, verified } from "../../core/signature.ts";
import type { Queue } from "../../engine/ports.ts";
import { acknowledgementOf } from "../../updates/acknowledgement.ts";
import type { Secret } from "../common/secret.ts";

export type Acknowledging = {
  /**
   * Verifies a signature of the listener at this URL. The URL itself is not signed, because the key is derived from it.
   */
  readonly verify: (listener: string, signed: Signed, given: string) => Promise<boolean>;
  /**
   * Sends the acknowledgement to the queue; false when `id` is not the id of an update. The delivery decides what it
   * acknowledges.
   */
  readonly take: (key: Omit<Key, "cluster">, acknowledged: Acknowledged) => Promise<boolean>;
};

/** `event`: equal in two copies of one request. */
export type Acknowledged = { readonly id: string; readonly listener: string; readonly event: string };

/** Opens acknowledgements; undefined without a secret: then only the answer to an update acknowledges it. */
export const acknowledgingFor = (
  cluster: string,
  secret: Secret | undefined,
  send: Queue["send"],
): Acknowledging | undefined => {
  if (secret === undefined) return undefined;
  return {
    verify: async (listener, signed, given) => {
      const url = URL.canParse(listener) ? new URL(listener) : undefined;
      if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
      return verified(listenerKey(await secret(), url.href), signed, given, Date.now());
    },
    take: async ({ kind, namespace, name }, { id, listener, event }) => {
      const message = acknowledgementOf({ cluster, kind, namespace, name }, id, listener);
      if (message === undefined) return false;
      await send(message, dedupe.trigger(message, digest(event)));
      return true;
    },
  };
};
