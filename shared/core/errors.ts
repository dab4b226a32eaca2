/** What can come back from the world instead of an answer. */
import type { Doing } from "./plan.ts";

/** An answer of the API server that is not a success, or its absence (`status` 0: no answer, effect unknown). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** HTTP status, or 0 when there was no answer: timeout or reset, the effect may have happened. */
  readonly status: number;
  /** Kubernetes' machine-readable reason: Conflict, AlreadyExists, Invalid, Forbidden, Expired, … or Timeout, Unreachable. */
  readonly reason: string;
  /** What the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  /** What could not be done by it, where whoever asked for it says so. */
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
 * Why a decision came to no plan in its budget: it was stopped, it is held until its object's wait is over, or it was starved
 * by a machine that was busy with something else.
 */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  /** Until the next try, ms. */
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
