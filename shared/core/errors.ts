/** Errors of the API server and of decisions. */
import type { Doing } from "./plan.ts";

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
