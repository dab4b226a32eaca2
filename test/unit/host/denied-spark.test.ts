/**
 * Refusals by a quota or a policy of the cluster stand where people look, and keep Spark's kinds from nothing else: a
 * schedule, a SparkConnect, and executors beyond the first.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { HttpRequest } from "../../../shared/core/http.ts";
import { fieldsOf, omit } from "../../../shared/core/json.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { rekindle } from "./command.ts";
import { apacheApplication, application, at, connect, schedule, sparkCluster, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand, said } from "./stand.ts";
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

const it = itOnStand();

for (const [what, message] of reasons)
  describe(`a schedule whose next run ${what} refuses`, () => {
    const often = (stand: Stand): Stored | undefined => stand.get("ScheduledSparkApplication", "often");
    const said = message.split(": ").at(-1) ?? message;

    it("says it in its status and an event, deletes old runs, and starts a later run", async (stand) => {
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
  it("says it in its condition and an event, and status names no log of a pod that is not there", async (stand) => {
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
  });
});

describe("what a quota refuses of objects of spark.apache.org", () => {
  const message = 'pods "it" is forbidden: exceeded quota: small, used: pods=4';
  const present = (object: Stored | undefined): string =>
    `${at(object, "status", "currentState", "currentStateSummary")}: ${at(object, "status", "currentState", "message")}`;
  const newest = (object: Stored | undefined): unknown =>
    Object.values(Object(at(object, "status", "stateTransitionHistory"))).at(-1);
  const held = (state: string): RegExp => new RegExp(`^${state}: held up by the platform: .*exceeded quota: small`);

  itOnStand({ scripts: { "*": [{ jobMs: 60_000, exitCode: 1 }, { jobMs: 10_000 }] } })(
    "a first driver and one of a restart say it, and follow once there is room",
    async (stand) => {
      let full = true;
      stand.fault(
        refusing(
          message,
          (asked) => isCreation(asked, "pods"),
          () => full,
        ),
      );
      await stand.host({ families: ["apache"] });
      const app = apacheApplication("apache");
      const sparkConf = { "spark.kubernetes.container.image": "apache/spark:4.2.0" };
      const restartConfig = { restartPolicy: "OnFailure", maxRestartAttempts: 2, restartBackoffMillis: 20_000 };
      const spec = omit(fieldsOf(app.spec), "driverHttpRouteList", "driverGrpcRouteList");
      await stand.create({ ...app, spec: { ...spec, sparkConf, applicationTolerations: { restartConfig } } });
      const own = (): Stored | undefined => stand.all("ApacheSparkApplication")[0];
      const isIn = (state: RegExp) => (): boolean => state.test(present(own()));
      await stand.until("Submitted says why", isIn(held("Submitted")), 200_000);
      assert.deepEqual(newest(own()), at(own(), "status", "currentState"));
      assert.equal(at(own(), "status", "currentAttemptSummary", "attemptInfo", "id"), 0);
      full = false;
      await stand.until("the driver runs", isIn(/^(DriverReady|Running)/), 400_000);
      assert.match(said(stand, "Submitted").join(), /has been created/);
      full = true;
      await stand.until("the restart says why", isIn(held("ScheduledToRestart")), 900_000);
      full = false;
      await stand.until("it succeeds", isIn(/^ResourceReleased/), 900_000);
      assert.doesNotMatch(JSON.stringify(own()?.status), /held up/);
      assert.equal(at(own(), "status", "currentAttemptSummary", "attemptInfo", "restartCounter"), 1);
    },
  );

  it("a cluster says it, and runs once there is room", async (stand) => {
    let full = true;
    stand.fault(
      refusing(
        message,
        (asked) => isCreation(asked, "statefulsets"),
        () => full,
      ),
    );
    await stand.host({ families: ["apache"] });
    await stand.create(sparkCluster("standalone"));
    const own = (): Stored | undefined => stand.get("SparkCluster", "standalone");
    await stand.until("its status says why", () => held("Submitted").test(present(own())), 200_000);
    assert.deepEqual(newest(own()), at(own(), "status", "currentState"));
    full = false;
    await stand.until("its objects are made", () => present(own()).startsWith("RunningHealthy"), 400_000);
    assert.doesNotMatch(JSON.stringify(own()?.status), /held up/);
    assert.match(said(stand, "Submitted").join(), /has been submitted/);
  });
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

  itOnStand({ scripts: { app: [{ runMs: 300_000 }] } })(
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
  );
});
