/** EventBridge calling the function by itself: whoever may invoke it was let in by IAM, and there is no signature to look at. */
import { bridgedIntent } from "../../api/events.ts";
import type { DoorParts } from "../host/process.ts";
import { carry } from "./trigger-routes.ts";

const accepted = (count: number) => ({
  statusCode: 202,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ accepted: count }),
  isBase64Encoded: false,
});

/** Undefined: the event is a request over HTTP, or nothing of EventBridge's. Throws when it cannot be taken: it comes again. */
export const takeBridged = async (
  parts: DoorParts,
  event: unknown,
): Promise<ReturnType<typeof accepted> | undefined> => {
  const intent = bridgedIntent(event, { kinds: parts.kinds(), plurals: parts.plurals, now: Date.now() });
  if (intent === undefined || intent.do === "nothing") return intent === undefined ? undefined : accepted(0);
  await carry(parts, intent);
  return accepted(1);
};
