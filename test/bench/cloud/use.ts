/** Use of resources, and its price; pure. */
import { prices } from "./prices.ts";

/** The use of resources by some work. */
export type Use = {
  readonly invocations: number;
  readonly gigabyteSeconds: number;
  /** Requests to SQS. */
  readonly sqs: number;
  readonly api: number;
  /** Request units of DynamoDB. */
  readonly writes: number;
  readonly reads: number;
  readonly logBytes: number;
};

export const none: Use = { invocations: 0, gigabyteSeconds: 0, sqs: 0, api: 0, writes: 0, reads: 0, logBytes: 0 };

const combined = (a: Use, b: Use, times: number): Use => ({
  invocations: a.invocations + times * b.invocations,
  gigabyteSeconds: a.gigabyteSeconds + times * b.gigabyteSeconds,
  sqs: a.sqs + times * b.sqs,
  api: a.api + times * b.api,
  writes: a.writes + times * b.writes,
  reads: a.reads + times * b.reads,
  logBytes: a.logBytes + times * b.logBytes,
});

/** Returns `a` plus `times` × `b`. */
export const plus = (a: Use, b: Use, times = 1): Use => combined(a, b, times);
/** Returns one `of`-th of the use. */
export const part = (a: Use, of: number): Use => combined(none, a, 1 / of);

const million = 1_000_000;

/** Returns the cost in US$; all requests to SQS have the price of FIFO, which is the higher one. */
export const dollars = (use: Use): number =>
  (use.invocations * prices.invocations.usd +
    use.gigabyteSeconds * prices.gigabyteSeconds.usd +
    use.sqs * prices.fifo.usd +
    use.writes * prices.writes.usd +
    use.reads * prices.reads.usd) /
    million +
  (use.logBytes / 1e9) * prices.logs.usd;
