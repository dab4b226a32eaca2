/**
 * Signed triggers: HMAC-SHA256 over the time, the request and its body. A signature is valid for less than the five
 * minutes for which the queue remembers an event, so a replay is always a duplicate.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * Seconds that a signature may be old, and ahead of the receiver's clock; together no more than the queue remembers.
 */
export const windowSeconds = 270;
export const aheadSeconds = 30;

/** The signed parts of a request: everything that gives a trigger its meaning. `timestamp` in epoch seconds. */
export type Signed = {
  readonly timestamp: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** Headers that the receiver acts on, by their names in lower case; absent or empty: none. */
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Returns the text to sign. Signed headers stand before the body, sorted by name, after a first line that cannot be a
 * timestamp: a signature without headers is never valid for a request with headers.
 */
const textOf = ({ timestamp, method, path, body, headers = {} }: Signed): string => {
  const lines = Object.keys(headers)
    .sort()
    .map((name) => `${name}:${headers[name]}\n`);
  const request = `${timestamp}\n${method}\n${path}\n`;
  return lines.length === 0 ? `${request}${body}` : `headers\n${request}${lines.join("")}\n${body}`;
};

/**
 * Returns the signing key of the listener at this URL, in its normal form: hex text, used as it is. Each listener has
 * its own key, so none can prove anything to another or acknowledge for it. The key's input begins with a line that
 * cannot be a timestamp: no signature is ever a key, even if one secret serves for both.
 */
export const listenerKey = (secret: string, url: string): string =>
  createHmac("sha256", secret).update(`listener\n${url}`).digest("hex");

/** Returns lower-case hex, as `x-rekindle-signature: sha256=…` carries it. */
export const signature = (secret: string, signed: Signed): string =>
  createHmac("sha256", secret).update(textOf(signed)).digest("hex");

/** True if the signature is right and the time is within the window. Compares in constant time. */
export const verified = (secret: string, signed: Signed, given: string, nowMs: number): boolean => {
  const hex = given.startsWith("sha256=") ? given.slice("sha256=".length) : given;
  const wanted = Buffer.from(signature(secret, signed), "hex");
  const offered = Buffer.from(/^[0-9a-f]{64}$/.test(hex) ? hex : "00".repeat(32), "hex");
  const equal = timingSafeEqual(wanted, offered);
  const age = nowMs / 1_000 - Number(signed.timestamp);
  return equal && /^\d{1,12}$/.test(signed.timestamp) && age <= windowSeconds && age >= -aheadSeconds;
};
