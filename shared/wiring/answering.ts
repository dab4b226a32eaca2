/** The wiring of the api function: triggers become keys on the FIFO queue. */
import { dedupe, digest, type Message, textOf } from "../core/key.ts";
import { openAccess } from "./access.ts";
import { acknowledgingFor } from "./acknowledging.ts";
import { identifyBy } from "./api/known.ts";
import { openReader } from "./api/reader.ts";
import { type Environment, functionSettings } from "./function.ts";
import { kindNames, noticesOf, plurals } from "./kinds.ts";
import type { DoorParts } from "./process.ts";
import { sendingTo } from "./sending.ts";
import { openLines } from "./trailing.ts";

/** What the door needs, from the environment. Nothing is connected: who can be asked is ready. */
export const openDoor = (env: Environment): DoorParts => {
  const { cluster, fifo, secret } = functionSettings(env, "cluster", "fifo", "secret");
  const { updates, updatesSecret } = functionSettings(env, "updates", "updatesSecret");
  const { readable } = functionSettings(env, "readable");
  const trail = openLines();
  const { report } = trail;
  const queued = sendingTo({ fifo, updates }, trail);
  const send = async (message: Message, event: string): Promise<void> => {
    try {
      await queued(message, dedupe.trigger(message, digest(event)));
    } catch (cause) {
      // Whoever asked is told nothing of our insides.
      report("error", "a trigger could not be sent", { key: textOf(message), error: String(cause) });
      throw cause;
    }
  };
  return {
    ready: () => true,
    kinds: () => kindNames,
    plurals,
    trigger: ({ kind, namespace, name }, event) => send({ cluster, kind, namespace, name, reason: "trigger" }, event),
    notice: async (node, until, event) => {
      await Promise.all(noticesOf(cluster, node, until).map((message) => send(message, event)));
    },
    acknowledging: updates === undefined ? undefined : acknowledgingFor(cluster, updatesSecret, queued),
    reader: readable === undefined ? undefined : openReader(openAccess(readable, { userAgent: "rekindle-api" })),
    identify: identifyBy(secret, report),
  };
};
