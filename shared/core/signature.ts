/**
 * Signed triggers: HMAC-SHA256 over the time, the request and its body, good for so long that the queue, which
 * knows an event for five minutes, has not forgotten any that could come again.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Seconds that a signature may be old, and ahead of our clock: together no more than the queue remembers. */
export const windowSeconds = 270;
export const aheadSeconds = 30;

/** What is signed: everything that a trigger means. `timestamp` in epoch seconds. */
export type Signed = {
  readonly timestamp: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** Headers that mean something to the receiver, by their names in lower case; absent or empty: none do. */
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * The text that the key signs. Signed headers stand before the body, sorted by name, after a first line that no timestamp
 * can be: a signature without headers is never good for a request that has some.
 */
const textOf = ({ timestamp, method, path, body, headers = {} }: Signed): string => {
  const lines = Object.keys(headers)
    .sort()
    .map((name) => `${name}:${headers[name]}\n`);
  const request = `${timestamp}\n${method}\n${path}\n`;
  return lines.length === 0 ? `${request}${body}` : `headers\n${request}${lines.join("")}\n${body}`;
};

/**
 * The key of the one listener that updates reach at this URL, in its normal form: hex text, used as it stands. No other key
 * follows from it, so a listener proves nothing to another one and acknowledges for none. What it is made of begins with a
 * line that no timestamp can be: no signature is ever a key, even where one secret serves for both.
 */
export const listenerKey = (secret: string, url: string): string =>
  createHmac("sha256", secret).update(`listener\n${url}`).digest("hex");

/** Lower-case hex, as `x-rekindle-signature: sha256=…` carries it. */
export const signature = (secret: string, signed: Signed): string =>
  createHmac("sha256", secret).update(textOf(signed)).digest("hex");

/** True when the signature is right and the time is within the window. Compares in constant time. */
export const verified = (secret: string, signed: Signed, given: string, nowMs: number): boolean => {
  const hex = given.startsWith("sha256=") ? given.slice("sha256=".length) : given;
  const wanted = Buffer.from(signature(secret, signed), "hex");
  const offered = Buffer.from(/^[0-9a-f]{64}$/.test(hex) ? hex : "00".repeat(32), "hex");
  const equal = timingSafeEqual(wanted, offered);
  const age = nowMs / 1_000 - Number(signed.timestamp);
  return equal && /^\d{1,12}$/.test(signed.timestamp) && age <= windowSeconds && age >= -aheadSeconds;
};
