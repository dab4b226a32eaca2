/** Acknowledgements that listeners send by themselves: signed with the secret that updates are signed with. */
import { dedupe, digest, type Key } from "../../core/key.ts";
import { type Signed, verified } from "../../core/signature.ts";
import type { Queue } from "../../engine/ports.ts";
import { acknowledgementOf } from "../../updates/acknowledgement.ts";
import type { Secret } from "../common/secret.ts";

export type Acknowledging = {
  readonly verify: (signed: Signed, given: string) => Promise<boolean>;
  /** False when `id` is no update's. What it acknowledges, if anything, its delivery says. */
  readonly take: (key: Omit<Key, "cluster">, id: string, event: string) => Promise<boolean>;
};

/** Undefined without a secret: then the answer to the update itself is the only acknowledgement. */
export const acknowledgingFor = (
  cluster: string,
  secret: Secret | undefined,
  send: Queue["send"],
): Acknowledging | undefined => {
  if (secret === undefined) return undefined;
  return {
    verify: async (signed, given) => verified(await secret(), signed, given, Date.now()),
    take: async ({ kind, namespace, name }, id, event) => {
      const message = acknowledgementOf({ cluster, kind, namespace, name }, id);
      if (message === undefined) return false;
      await send(message, dedupe.trigger(message, digest(event)));
      return true;
    },
  };
};
