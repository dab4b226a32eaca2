/** Acknowledgements that listeners send by themselves: signed with the key that their updates are signed with. */
import { dedupe, digest, type Key } from "../../core/key.ts";
import { listenerKey, type Signed, verified } from "../../core/signature.ts";
import type { Queue } from "../../engine/ports.ts";
import { acknowledgementOf } from "../../updates/acknowledgement.ts";
import type { Secret } from "../common/secret.ts";

export type Acknowledging = {
  /** Of the listener at this URL: it need not be signed, for the key is made of it. */
  readonly verify: (listener: string, signed: Signed, given: string) => Promise<boolean>;
  /** False when `id` is no update's. What it acknowledges, if anything, its delivery says. */
  readonly take: (key: Omit<Key, "cluster">, acknowledged: Acknowledged) => Promise<boolean>;
};

/** `event`: what two copies of one request share. */
export type Acknowledged = { readonly id: string; readonly listener: string; readonly event: string };

/** Undefined without a secret: then the answer to the update itself is the only acknowledgement. */
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
