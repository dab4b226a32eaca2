/**
 * Events with which EventBridge invokes the function directly. IAM authorizes the invocation, so there is no signature
 * to check.
 */
import { bridgedIntent } from "../../api/events.ts";
import type { ApiParts } from "../host/process.ts";
import { carry } from "./app.ts";

const accepted = (count: number) => ({
  statusCode: 202,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ accepted: count }),
  isBase64Encoded: false,
});

/**
 * Handles an event of EventBridge; undefined for any other event. Throws when its intent cannot be sent: EventBridge
 * tries again.
 */
export const takeBridged = async (
  parts: ApiParts,
  event: unknown,
): Promise<ReturnType<typeof accepted> | undefined> => {
  const intent = bridgedIntent(event, { kinds: parts.kinds(), plurals: parts.plurals, now: Date.now() });
  if (intent === undefined || intent.do === "nothing") return intent === undefined ? undefined : accepted(0);
  await carry(parts, intent);
  return accepted(1);
};
