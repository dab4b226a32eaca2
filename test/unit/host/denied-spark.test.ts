/**
 * Refusals by a quota or a policy of the cluster stand where people look, and keep Spark's kinds from nothing else: a
 * schedule, a SparkConnect, and executors beyond the first.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { HttpRequest } from "../../../shared/core/http.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { rekindle } from "./command.ts";
import { application, at, connect, schedule, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";
import { answer, type Fault } from "./way.ts";

const isCreation = ({ method, path }: HttpRequest, plural: string): boolean =>
  method === "POST" && (path.split("?")[0] ?? "").endsWith(`/${plural}`);

const events = (stand: Stand): string =>
  JSON.stringify(stand.all("Event").map(({ reason, message }) => [reason, message]));

/** A refusal of what a quota has no room for, or a policy does not want, while `isOn`. */
const refusing =
  (message: string, hit: (asked: HttpRequest) => boolean, isOn: () => boolean = () => true): Fault =>
  (asked) =>
    isOn() && hit(asked) ? answer(403, "Forbidden", message) : undefined;

const reasons: readonly (readonly [what: string, message: string])[] = [
  ["a quota", 'sparkapplications "often" is forbidden: exceeded quota: q, used: count/sparkapplications=2'],
  ["a policy", "sparkapplications \"often\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: not now"],
];

for (const [what, message] of reasons)
  describe(`a schedule whose next run ${what} refuses`, () => {
    const often = (stand: Stand): Stored | undefined => stand.get("ScheduledSparkApplication", "often");
    const said = message.split(": ").at(-1) ?? message;

    itOnStand("says it in its status and an event, deletes old runs, and starts a later run", async (stand) => {
      let full = false;
      stand.fault(
        refusing(
          message,
          (asked) => isCreation(asked, "sparkapplications"),
          () => full,
        ),
      );
      await stand.host();
      await stand.create(schedule("often", { schedule: "*/3 * * * *", successfulRunHistoryLimit: 0 }));
      await stand.until("a run is made", () => stand.all("SparkApplication").length === 1, 200_000);
      full = true;
      await stand.until("it is deleted", () => stand.all("SparkApplication").length === 0, 400_000);
      await stand.until("the status says why", () => `${statusOf(often(stand), "reason")}`.includes(said), 200_000);
      assert.match(String(statusOf(often(stand), "reason")), /^held up by the platform: /);
      assert.equal(statusOf(often(stand), "scheduleState"), "Scheduled");
      assert.ok(events(stand).includes(said), events(stand));
      full = false;
      await stand.until("a later run is made", () => stand.all("SparkApplication").length === 1, 400_000);
      await stand.until("the status is clean", () => statusOf(often(stand), "reason") === undefined, 60_000);
    });
  });

describe("a SparkConnect whose server a quota refuses", () => {
  itOnStand(
    "says it in its condition and an event, and status names no log of a pod that is not there",
    async (stand) => {
      const message = 'pods "sc-server" is forbidden: exceeded quota: small, used: pods=4';
      let full = true;
      stand.fault(
        refusing(
          message,
          (asked) => isCreation(asked, "pods"),
          () => full,
        ),
      );
      await stand.host();
      await stand.create(connect("sc"));
      const shown = (): string => JSON.stringify(statusOf(stand.get("SparkConnect", "sc"), "conditions") ?? []);
      await stand.until("its condition says why", () => shown().includes("exceeded quota: small"), 120_000);
      assert.match(shown(), /held up by the platform: /);
      assert.match(events(stand), /exceeded quota: small/);
      const text = await rekindle(stand, "status", "sparkconnect/sc");
      assert.doesNotMatch(text, /rekindle log/);
      assert.equal(text.split("exceeded quota: small").length, 2, text);
      full = false;
      await stand.until("it is ready", () => statusOf(stand.get("SparkConnect", "sc"), "state") === "Ready", 600_000);
      assert.doesNotMatch(shown(), /held up/);
    },
  );
});

describe("executors beyond the first that a policy refuses", () => {
  const message = "pods \"app-exec\" is forbidden: ValidatingAdmissionPolicy 'p' denied request: not this one";
  const isExecutor = (asked: HttpRequest): boolean =>
    isCreation(asked, "pods") && /"spark-role":"executor"/.test(asked.body ?? "");

  /** A policy that lets one executor pass. */
  const butOne = (): Fault => {
    let passed = 0;
    return refusing(message, (asked) => {
      if (isExecutor(asked)) passed += 1;
      return isExecutor(asked) && passed > 1;
    });
  };

  const executors = (stand: Stand): readonly Stored[] =>
    stand.all("Pod").filter(({ metadata }) => metadata.labels?.["spark-role"] === "executor");

  itOnStand(
    "keep the run from nothing: it runs, says what is refused, and completes",
    async (stand) => {
      stand.fault(butOne());
      await stand.host();
      const spec = { executor: { instances: 3, cores: 1, memory: "512m" } };
      await stand.create(application("app", { annotations: { "rekindle.dev/executors": "own" }, spec }));
      const app = (): Stored | undefined => stand.get("SparkApplication", "app");
      await stand.until("it runs", () => stateOf(app()) === "RUNNING", 60_000);
      await stand.until("its first executor runs", () => executors(stand).length === 1, 60_000);
      await stand.until("an event says it", () => events(stand).includes("not this one"), 200_000);
      await stand.until(
        "its status names the executor",
        () => Object.keys(Object(statusOf(app(), "executorState"))).length === 1,
        60_000,
      );
      await stand.until("it completes", () => stateOf(app()) === "COMPLETED", 900_000);
      assert.equal(at(app(), "status", "executionAttempts"), 1);
    },
    { scripts: { app: [{ runMs: 300_000 }] } },
  );
});
