/** Converts errors of NATS and JetStream into one line that names the queue and what to change. */
import { ApiError } from "../../core/http.ts";

type Meaning = { readonly reason: string; readonly text: string };

/** By the name of the client's error. */
const byName: Readonly<Record<string, Meaning>> = {
  AuthorizationError: {
    reason: "QueueForbidden",
    text: "the server refuses the credentials: correct REKINDLE_NATS_CREDENTIALS",
  },
  UserAuthenticationExpiredError: {
    reason: "QueueForbidden",
    text: "the credentials have expired: renew REKINDLE_NATS_CREDENTIALS",
  },
  PermissionViolationError: {
    reason: "QueueForbidden",
    text: "no permission: allow this user the subjects that infra/kubernetes/overlays/nats lists",
  },
  NoResponders: {
    reason: "QueueMissing",
    text: "no such stream, or JetStream is off on this server: enable jetstream in its configuration",
  },
  TimeoutError: { reason: "QueueUnreachable", text: "no answer in time" },
  ConnectionError: { reason: "QueueUnreachable", text: "the server cannot be reached" },
  ConnectionLost: { reason: "QueueUnreachable", text: "the connection is lost again and again" },
};

/** By JetStream's code of an error. */
const byCode: Readonly<Record<number, Meaning>> = {
  10023: { reason: "QueueThrottled", text: "the server has no resources left for it" },
  10039: {
    reason: "QueueForbidden",
    text: "JetStream is off for this account: enable it in the server's configuration",
  },
  10047: { reason: "QueueThrottled", text: "the server has no storage left: give JetStream more, or remove streams" },
  10054: { reason: "QueueRefused", text: "the message is larger than the stream takes" },
  10059: { reason: "QueueMissing", text: "there is no such stream: it is created again by the next request" },
  10076: { reason: "QueueUnreachable", text: "JetStream is not available at the moment" },
};

/** The error that JetStream answers with. */
export type JetStreamError = { readonly err_code: number; readonly description: string };

/** Codes of JetStream's errors that are no failures to this adapter. */
export const streamMissing = 10_059;
export const messageMissing = 10_037;
export const noSuchSequence = 10_043;
/** A condition on the last sequence of a subject does not hold; or another request with one is under way. */
export const wrongSequence: ReadonlySet<number> = new Set([10_071, 10_164]);

/** Thrown for an answer that is an error; the caller may know its code. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: number;
  constructor({ err_code, description }: JetStreamError) {
    super(description);
    this.code = err_code;
  }
}

/** Thrown for a request whose connection was lost before its answer. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

const firstLine = (text: string): string => text.split("\n")[0]?.slice(0, 300) ?? "";

/** The client wraps some errors. */
const innermost = (cause: unknown): unknown =>
  cause instanceof Error && cause.name === "RequestError" && cause.cause !== undefined ? cause.cause : cause;

const meaningOf = (cause: unknown): Meaning => {
  if (cause instanceof Refused)
    return byCode[cause.code] ?? { reason: "QueueRefused", text: `${firstLine(cause.message)} (${cause.code})` };
  if (!(cause instanceof Error)) return { reason: "QueueUnreachable", text: firstLine(String(cause)) };
  const known = Object.hasOwn(byName, cause.name) ? byName[cause.name] : undefined;
  return known ?? { reason: "QueueUnreachable", text: firstLine(cause.message) || cause.name };
};

/** Returns the error to throw. The error contains nothing of a message. */
export const refusalOf = (what: string, queue: string, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const { reason, text } = meaningOf(innermost(cause));
  return new ApiError({ status: 0, reason, message: `NATS ${what} ${queue}: ${text}`, cause });
};

/** True for an error after which the same request may succeed: the server restarts, or has just lost its leader. */
export const isPassing = (cause: unknown): boolean => {
  const inner = innermost(cause);
  if (inner instanceof Refused) return [10_023, 10_076].includes(inner.code);
  return inner instanceof Error && ["TimeoutError", "NoResponders", "ConnectionLost"].includes(inner.name);
};
