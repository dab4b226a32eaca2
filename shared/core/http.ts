/**
 * Requests to an API server as plain values, so that the real server and the simulator have the same interface; the
 * errors of its answers, and of decisions.
 */
import type { Doing } from "./plan.ts";

export type HttpRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, e.g. `/api/v1/namespaces/default/pods?limit=500`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds after which the call is given up; its effect is then unknown. */
  readonly timeoutMs: number;
  /** Longest answer, bytes: a longer one throws `ApiError`, reason TooLong; absent: 16 MiB. */
  readonly limitBytes?: number;
};

/** Header names are lower case. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * The body as parsed JSON, if the sender has it, such as a server in the same process; callers must not modify it.
   */
  readonly json?: () => unknown;
};

/** A streamed answer: one JSON text per element, as a watch sends them. Ends when either side closes it. */
export type HttpStream = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly lines: AsyncIterable<string>;
  close(): void;
};

/** Sends one request. Rejects only when there was no answer (timeout, reset, refused). */
export type Transport = {
  send(request: HttpRequest): Promise<HttpResponse>;
  /** A status other than 200 carries its whole body as one element of `lines`. */
  stream(request: HttpRequest): Promise<HttpStream>;
};

/** An answer of the API server that is not a success, or its absence (`status` 0: no answer, effect unknown). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status, or 0 when there was no answer: timeout or reset, the effect may have happened. */
  readonly status: number;
  /**
   * Kubernetes' machine-readable reason: Conflict, AlreadyExists, Invalid, Forbidden, Expired, … or Timeout,
   * Unreachable.
   */
  readonly reason: string;
  /** The wait that the server asked for, ms. */
  readonly retryAfterMs: number | undefined;

  /** The operation that failed, if the caller names it. */
  readonly doing: Doing | undefined;

  constructor(fields: {
    status: number;
    reason: string;
    message: string;
    retryAfterMs?: number;
    cause?: unknown;
    doing?: Doing;
  }) {
    super(fields.message, { cause: fields.cause });
    this.status = fields.status;
    this.reason = fields.reason;
    this.retryAfterMs = fields.retryAfterMs;
    this.doing = fields.doing;
  }
}

/** Statuses that do not change with retries: a missing right or an unserved resource. Any other error is trouble. */
const refusals: ReadonlySet<number> = new Set([403, 404, 405]);

export const isRefusal = (cause: unknown): cause is ApiError => cause instanceof ApiError && refusals.has(cause.status);

/**
 * A decision that came to no plan in its budget: it was stopped, its object is in quarantine (`held`), or the machine
 * was too busy to run it (`starved`).
 */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  /** The wait until the next try, ms. */
  readonly waitMs: number;
  readonly why: "stopped" | "held" | "starved";

  constructor({ message, waitMs, why }: { message: string; waitMs: number; why: BudgetError["why"] }) {
    super(message);
    this.waitMs = waitMs;
    this.why = why;
  }
}

/** Ends an exhaustive switch: does not compile while a case is missing. */
export const assertNever = (value: never): never => {
  throw new Error(`unexpected ${JSON.stringify(value)}`);
};
