/** What an error of the platform means: a refusal is evidence about the application, anything else is only in the way. */
import { ApiError, BudgetError } from "../core/errors.ts";
import { digest, type Key, type Message, textOf } from "../core/key.ts";
import type { Trouble } from "../core/plan.ts";

/** A webhook's or a policy's no is the platform's; only the server's own judgement of the content is the application's. */
const fromPolicy = (error: ApiError): boolean => /admission webhook|ValidatingAdmissionPolicy/.test(error.message);

/**
 * What the server's own admission says of an object with 403, although it has judged what stands in it: limits of its
 * namespace, pod security, an account or a class that does not exist. Rights and used-up quota are not among them.
 */
const judgements: readonly RegExp[] = [
  /\b(maximum|minimum) \S+ usage per (Container|Pod|PersistentVolumeClaim) is\b/,
  /\bmax limit to request ratio per (Container|Pod) is\b/,
  /\bfailed quota: \S+: must specify\b/,
  /\bviolates PodSecurity\b/,
  // The account `default` comes with its namespace, a moment later.
  /\berror looking up service account\b.*\bserviceaccount "(?!default")\S+ not found/,
  /\bno PriorityClass with name \S+ was found\b/,
  /\bRuntimeClass\b.*\bnot found\b/,
];

/** The server's own words stand in front: what a user wrote may follow at any length. */
const longestLook = 4_096;

const isJudgement = ({ status, message }: ApiError): boolean =>
  status === 403 && judgements.some((words) => words.test(message.slice(0, longestLook)));

/** True when the server has judged the content itself and will say the same again. */
export const isRefusal = (error: ApiError): boolean =>
  (error.status === 422 || error.status === 400 || error.status === 413 || isJudgement(error)) && !fromPolicy(error);

/** The reason of a trouble that is a fault of ours; a word that no server uses. */
export const internal = "RekindleFault";

/** The reason of a trouble that is the object's own: to decide about it costs more than it may. */
export const quarantined = "Quarantined";

/** The reason of a trouble that is the machine's: it had no time for the decision. */
const starved = "MachineBusy";

/** What any error means for the step. One of ours is told like any other: a key that we cannot handle must not lock its group. */
export const troubleOf = (cause: unknown): Trouble => {
  if (cause instanceof BudgetError && cause.why === "starved") return { reason: starved, message: cause.message };
  if (cause instanceof BudgetError) return { reason: quarantined, message: cause.message, retryAfterMs: cause.waitMs };
  if (!(cause instanceof ApiError))
    return { reason: internal, message: cause instanceof Error ? cause.message : String(cause) };
  return {
    reason: cause.reason,
    message: cause.message,
    ...(cause.retryAfterMs === undefined ? {} : { retryAfterMs: cause.retryAfterMs }),
    ...(cause.doing === undefined ? {} : { doing: cause.doing }),
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

/** Tries after which an event, or what an application may do without, is no longer waited for. */
const patience = 2;

export const isPatient = ({ tries = 0 }: Message): boolean => tries < patience;
