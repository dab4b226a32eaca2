/**
 * A schedule that invokes a function at a fixed rate, as the cloud does: it does not wait for the last invocation, and
 * retries failed ones.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { arnOf } from "./definition.ts";
import type { Lambda } from "./pool.ts";

export type ScheduleSettings = {
  readonly lambda: Lambda;
  readonly everyMs: number;
  /** The event; absent: EventBridge's format. */
  readonly input?: unknown;
  /** Retries of a failed asynchronous invocation. */
  readonly retries: number;
  readonly retryMs: number;
};

export type Schedule = {
  /** The number of scheduled invocations so far. */
  readonly fired: () => number;
  /** Stops the schedule; resolves when the invocations under way have ended, including their retries. */
  stop(): Promise<void>;
};

const eventOf = (name: string): object => ({
  version: "0",
  id: randomUUID(),
  "detail-type": "Scheduled Event",
  source: "aws.events",
  account: "000000000000",
  time: new Date().toISOString(),
  region: "eu-west-1",
  resources: [arnOf("events", `rule/${name}`)],
  detail: {},
});

export const startSchedule = ({ lambda, everyMs, input, retries, retryMs }: ScheduleSettings): Schedule => {
  const under = new Set<Promise<void>>();
  let fired = 0;
  const fire = async (): Promise<void> => {
    const event = input ?? eventOf(lambda.definition.name);
    for (let tried = 0; tried <= retries; tried++) {
      if (tried > 0) await sleep(retryMs);
      if ((await lambda.invoke(event)).ended === "answered") return;
    }
  };
  const clock = setInterval(() => {
    fired += 1;
    const one: Promise<void> = fire().finally(() => under.delete(one));
    under.add(one);
  }, everyMs);
  return {
    fired: () => fired,
    stop: async () => {
      clearInterval(clock);
      await Promise.all(under);
    },
  };
};
