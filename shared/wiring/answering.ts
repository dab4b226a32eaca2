/** The wiring of the api function: signed triggers become keys on the FIFO queue. */
import { sqsSender } from "../adapters/sqs/queue.ts";
import { lineReport } from "../adapters/telemetry/lines.ts";
import { dedupe, digest, textOf } from "../core/key.ts";
import { verified } from "../core/signature.ts";
import { acknowledgingFor } from "./acknowledging.ts";
import { type Environment, functionSettings } from "./function.ts";
import { kindNames } from "./kinds.ts";
import type { DoorParts } from "./process.ts";

/** What the door needs, from the environment. Nothing is connected: who can be asked is ready. */
export const openDoor = (env: Environment): DoorParts => {
  const { cluster, fifo, secret } = functionSettings(env, "cluster", "fifo", "secret");
  const { updates, updatesSecret } = functionSettings(env, "updates", "updatesSecret");
  const send = sqsSender(fifo);
  const report = lineReport("info");
  return {
    ready: () => true,
    kinds: () => kindNames,
    trigger: async ({ kind, namespace, name }, event) => {
      const key = { cluster, kind, namespace, name };
      try {
        await send({ ...key, reason: "trigger" }, dedupe.trigger(key, digest(event)));
      } catch (cause) {
        // Whoever asked is told nothing of our insides.
        report("error", "a trigger could not be sent", { key: textOf(key), error: String(cause) });
        throw cause;
      }
    },
    acknowledging: updates === undefined ? undefined : acknowledgingFor(cluster, updatesSecret, sqsSender(updates)),
    verify: secret === undefined ? undefined : (signed, given) => verified(secret, signed, given, Date.now()),
  };
};
