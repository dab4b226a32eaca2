/**
 * Takes deliveries of the embedded queue by calling a function: acknowledges what the answer calls done, and gives back
 * everything else with growing waits. A call that nobody has begun does not count as a delivery, and closes the
 * function's URL for a while, so that a function that is away is asked by a few calls and not by every key.
 */
import { backoffOf } from "../../core/backoff.ts";
import { forgetOldest } from "../../core/bounded-map.ts";
import type { Message } from "../../core/key.ts";
import type { Enclosure, Report } from "../../engine/ports.ts";
import type { Delivery } from "../embedded/queue.ts";
import type { Outcome } from "../embedded/workers.ts";
import type { Call, Called } from "./call.ts";
import type { Carried } from "./carrier.ts";

type Settings = {
  readonly call: Call;
  /** Returns what a call encloses for the key of its messages; absent: nothing. */
  readonly enclosing?: (messages: readonly Message[]) => Enclosure | undefined;
  /** Puts a message that a function sends into the queue. */
  readonly put: (carried: Carried) => Promise<void>;
  readonly report: Report;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
};

const firstMs = 1_000;
const longestMs = 60_000;
/** The most groups whose failures are counted. */
const most = 10_000;

/** Returns the wait after so many failures in a row, ms. */
const growing = (failures: number): number => backoffOf(failures - 1, firstMs, longestMs);

type Closed = { readonly until: number; readonly failures: number };

export const takingBy = ({ call, enclosing, put, report, now, random }: Settings) => {
  /** Failures in a row of each group that waits to come again. */
  const failures = new Map<string, number>();
  let closed: Closed | undefined;

  const count = (group: string): number => {
    const failed = (failures.get(group) ?? 0) + 1;
    failures.set(group, failed);
    forgetOldest(failures, most);
    return failed;
  };
  /** Spreads keys that wait for the same instant over a quarter of the time more. */
  const spread = (ms: number): number => Math.round(ms * (1 + random() / 4));

  const close = ({ why, againMs }: Extract<Called, { did: "refused" }>): Outcome => {
    // Calls that were under way together fail together: they count as one failure of the URL.
    const failed = closed === undefined || closed.until <= now() ? (closed?.failures ?? 0) + 1 : closed.failures;
    const waitMs = againMs ?? growing(failed);
    if (closed === undefined || closed.until <= now())
      report("warn", "the function takes no calls, trying again", { why, waitMs });
    closed = { until: Math.max(closed?.until ?? 0, now() + waitMs), failures: failed };
    return { againMs: spread(waitMs), begun: false };
  };
  const open = (): void => {
    if (closed !== undefined) report("info", "the function takes calls again");
    closed = undefined;
  };
  const settle = async ({ group }: Delivery, called: Called): Promise<Outcome> => {
    switch (called.did) {
      case "refused":
        return close(called);
      case "broke": {
        const againMs = called.againMs ?? spread(growing(count(group)));
        report("warn", "a call broke off; its messages come again", { group, why: called.why, againMs });
        return { againMs };
      }
      case "answered": {
        open();
        for (const one of called.carried) await put(one);
        if (called.failed.length > 0)
          return { failed: called.failed, againMs: called.againMs ?? spread(growing(count(group))) };
        failures.delete(group);
        return "done";
      }
    }
  };
  return async (delivery: Delivery): Promise<Outcome> => {
    const waitMs = (closed?.until ?? 0) - now();
    if (waitMs > 0) return { againMs: spread(waitMs), begun: false };
    return await settle(delivery, await call(delivery, enclosing?.(delivery.messages)));
  };
};
