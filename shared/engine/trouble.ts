/** Classifies errors of the platform: a refusal is evidence about the application, any other error is trouble. */
import { ApiError, BudgetError } from "../core/http.ts";
import { digest, type Key, type Message, textOf } from "../core/key.ts";
import { policyRefused, quotaExceeded, type Trouble } from "../core/plan.ts";
import { errorText } from "../core/text.ts";
import { backoffOf } from "../core/time.ts";

/**
 * True of an answer of a webhook or a policy: that is the platform's trouble, and only the server's own validation
 * judges the application.
 */
const fromPolicy = (error: ApiError): boolean =>
  /admission webhook|ValidatingAdmissionPolicy/.test(error.message.slice(0, longestLook));

/**
 * Messages of the server's own admission that answer 403 although they judge the content of the object: limits of its
 * namespace, pod security, a service account or a class that does not exist. Missing rights and used-up quota are not
 * among them.
 */
const judgements: readonly RegExp[] = [
  /\b(maximum|minimum) \S+ usage per (Container|Pod|PersistentVolumeClaim) is\b/,
  /\bmax limit to request ratio per (Container|Pod) is\b/,
  /\bfailed quota: \S+: must specify\b/,
  /\bviolates PodSecurity\b/,
  // The service account `default` is created shortly after its namespace.
  /\berror looking up service account\b.*\bserviceaccount "(?!default")\S+ not found/,
  /\bno PriorityClass with name \S+ was found\b/,
  /\bRuntimeClass\b.*\bnot found\b/,
];

/**
 * Characters of a message that are searched. The server's own words come first; text from the user may follow at any
 * length.
 */
const longestLook = 4_096;

const isJudgement = ({ status, message }: ApiError): boolean =>
  status === 403 && judgements.some((words) => words.test(message.slice(0, longestLook)));

/** True if the server has judged the content itself, so that a retry would get the same answer. */
export const isRefusal = (error: ApiError): boolean =>
  (error.status === 422 || error.status === 400 || error.status === 413 || isJudgement(error)) && !fromPolicy(error);

/**
 * Returns the reason if the cluster refuses the object for now: a ResourceQuota has no room for it, or a policy or a
 * webhook denies it.
 */
export const denialOf = (error: ApiError): string | undefined => {
  const { status, message } = error;
  if (status === 403 && /\bexceeded quota\b/.test(message.slice(0, longestLook))) return quotaExceeded;
  return status >= 400 && status < 429 && fromPolicy(error) ? policyRefused : undefined;
};

/** The reason of a trouble that is a fault of Rekindle; no server uses this word. */
export const internal = "RekindleFault";

/** The reason of a trouble that the object causes: a decision about it exceeds its budget. */
export const quarantined = "Quarantined";

/**
 * The reason of a trouble that ends with the object: its namespace terminates, so nothing new can be created in it, and
 * the object will be deleted, too.
 */
export const namespaceEnds = "NamespaceTerminating";

const isNamespaceEnding = ({ status, message }: ApiError): boolean =>
  status === 403 && /\bbecause it is being terminated\b/.test(message.slice(0, longestLook));

/** The wait before a step looks again at an object whose namespace terminates, ms; its deletion wakes its key before. */
const namespaceWaitMs = 300_000;

/** The reason of a trouble that the machine causes: it had no time for the decision. */
const starved = "MachineBusy";

/**
 * Converts any error into a trouble. An internal error is a trouble like any other, because a key that fails must not
 * block its group.
 */
export const troubleOf = (cause: unknown): Trouble => {
  if (cause instanceof BudgetError && cause.why === "starved") return { reason: starved, message: cause.message };
  if (cause instanceof BudgetError) return { reason: quarantined, message: cause.message, retryAfterMs: cause.waitMs };
  if (!(cause instanceof ApiError)) return { reason: internal, message: errorText(cause) };
  if (isNamespaceEnding(cause)) return { reason: namespaceEnds, message: cause.message, retryAfterMs: namespaceWaitMs };
  return {
    reason: cause.reason,
    message: cause.message,
    ...(cause.retryAfterMs === undefined ? {} : { retryAfterMs: cause.retryAfterMs }),
    ...(cause.doing === undefined ? {} : { doing: cause.doing }),
  };
};

/**
 * Returns the wait before the next try, ms: the time that the server asked for, else 1 s doubling to 5 min. Up to a
 * quarter is added, different from key to key, so that many keys do not come back at once.
 */
export const backoffMs = (key: Key, tries: number, retryAfterMs: number | undefined): number => {
  const base = Math.max(retryAfterMs ?? 0, backoffOf(tries, 1_000, 300_000));
  const spread = Number.parseInt(digest(textOf(key), String(tries)).slice(0, 4), 16) / 0x1_0000;
  return Math.min(900_000, Math.round(base * (1 + spread / 4)));
};

/** Tries after which a step no longer waits for Events and optional effects. */
const mostTries = 2;

export const isPatient = ({ tries = 0 }: Message): boolean => tries < mostTries;
