/** What an error of the platform means: a refusal is evidence about the application, anything else is only in the way. */
import { ApiError } from "../core/errors.ts";
import { digest, type Key, textOf } from "../core/key.ts";
import type { Trouble } from "../core/plan.ts";

/** A webhook's or a policy's no is the platform's; only the server's own judgement of the content is the application's. */
const fromPolicy = (error: ApiError): boolean => /admission webhook|ValidatingAdmissionPolicy/.test(error.message);

/** True when the server has judged the content itself and will say the same again. */
export const isRefusal = (error: ApiError): boolean =>
  (error.status === 422 || error.status === 400 || error.status === 413) && !fromPolicy(error);

/** The reason of a trouble that is a fault of ours; a word that no server uses. */
export const internal = "RekindleFault";

/** What any error means for the step. One of ours is told like any other: a key that we cannot handle must not lock its group. */
export const troubleOf = (cause: unknown): Trouble => {
  if (!(cause instanceof ApiError))
    return { reason: internal, message: cause instanceof Error ? cause.message : String(cause) };
  return {
    reason: cause.reason,
    message: cause.message,
    ...(cause.retryAfterMs === undefined ? {} : { retryAfterMs: cause.retryAfterMs }),
  };
};

/**
 * How long to wait before the next try, in ms: what the server asked for, else 1 s doubling to 5 min, with up to a
 * quarter more that differs from key to key, so that many keys do not come back at once.
 */
export const backoffMs = (key: Key, tries: number, retryAfterMs: number | undefined): number => {
  const base = Math.max(retryAfterMs ?? 0, Math.min(300_000, 1_000 * 2 ** Math.min(tries, 9)));
  const spread = Number.parseInt(digest(textOf(key), String(tries)).slice(0, 4), 16) / 0x1_0000;
  return Math.min(900_000, Math.round(base * (1 + spread / 4)));
};
