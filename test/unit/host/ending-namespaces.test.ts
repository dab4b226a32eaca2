/** In a namespace that terminates nothing new can be created: each kind asks rarely, warns of nothing, and ends with its object. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { application, cronJob, home, jobFlow, queue, schedule, volcanoJob } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";
import { answer, type Fault } from "./way.ts";

/** The answer of the API server to every creation in a namespace that terminates, Events among them. */
const ending =
  (isEnding: () => boolean): Fault =>
  ({ method, path }) =>
    isEnding() && method === "POST" && path.includes("/namespaces/default/")
      ? answer(
          403,
          "Forbidden",
          'pods "x" is forbidden: unable to create new content in namespace default because it is being terminated',
        )
      : undefined;

type Case = {
  readonly kind: string;
  readonly objects: readonly Obj[];
  /** Takes away what the object then creates anew. */
  readonly lose: (stand: Stand) => Promise<void>;
};

const losePods = async (stand: Stand): Promise<void> => {
  for (const { metadata } of stand.all("Pod")) await stand.remove("Pod", metadata.name);
};

const policies = [{ event: "PodEvicted", action: "RestartJob" }];
const flow = jobFlow("f", ["a", "b"], { runMs: 60_000 });

const cases: readonly Case[] = [
  { kind: "Job", objects: [volcanoJob("j", { runMs: 3_600_000 }, { policies, maxRetry: 50 })], lose: losePods },
  { kind: "CronJob", objects: [cronJob("c", { runMs: 20_000 })], lose: async () => {} },
  { kind: "JobFlow", objects: flow, lose: async () => {} },
  {
    kind: "SparkApplication",
    objects: [application("a", { spec: { restartPolicy: { type: "Always", onFailureRetryInterval: 5 } } })],
    lose: losePods,
  },
  { kind: "ScheduledSparkApplication", objects: [schedule("s", { schedule: "* * * * *" })], lose: async () => {} },
];

const it = itOnStand({ schedulers: ["default-scheduler", "volcano"] });

describe("in a namespace that terminates", () => {
  for (const { kind, objects, lose } of cases)
    it(`a ${kind} goes on asking rarely, and warns of nothing`, async (stand) => {
      let isEnding = false;
      stand.fault(ending(() => isEnding));
      await stand.create(home);
      await stand.create(queue);
      await stand.host({ gang: "none" });
      for (const object of objects) await stand.create(object);
      await stand.turn(45_000);
      isEnding = true;
      const lines = stand.lines.length;
      await lose(stand);
      await stand.turn(60_000);
      const before = stand.writes().filter((line) => line.startsWith("POST")).length;
      await stand.turn(3_600_000);
      const tries = stand.writes().filter((line) => line.startsWith("POST")).length - before;
      const warned = stand.lines.slice(lines).filter(({ level }) => level === "warn" || level === "error");
      assert.deepEqual(warned, []);
      // Once in five minutes, with as many creations as a stage has in flight when the first answer comes.
      assert.ok(tries <= 100, `${tries} creations in an hour`);
    });
});
