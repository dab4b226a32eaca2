/** Ends of drivers' logs under a host, and as the command line shows them. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { defaultOptions } from "../../../shared/spark/auxiliary-objects/options.ts";
import { onTerminal } from "../cli/terminal.ts";
import { application, stateOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";
import { answer } from "./way.ts";

const spark = { ...defaultOptions, keepLogsMs: 3_600_000 };

const retried = { restartPolicy: { type: "OnFailure", onFailureRetries: 4, onFailureRetryInterval: 1 } };

/** Drivers that fail three times with a log of their own, and then complete. */
const scripts = {
  etl: [
    { jobMs: 1_000, exitCode: 1, log: "first\n" },
    { jobMs: 1_000, exitCode: 1, log: "second\n" },
    { jobMs: 1_000, exitCode: 1, log: "third\n" },
    { jobMs: 1_000, exitCode: 1, log: "fourth\n" },
    { jobMs: 1_000, log: "the last\n" },
  ],
};

const kept = ({ all }: Stand): readonly string[] =>
  all("Checkpoint")
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith("logs."));

const over = (stand: Stand, state: string) =>
  stand.until(state, () => stateOf(stand.get("SparkApplication", "etl")) === state);

const it = itOnStand({ scripts });

describe("an application that is retried", () => {
  it("keeps the end of its driver's log of the last three attempts, until it is deleted", async (stand) => {
    await stand.host({ spark });
    await stand.create(application("etl", { spec: retried }));
    await over(stand, "COMPLETED");
    const { run } = onTerminal(stand.simulator);
    assert.match((await run("log", "etl", "--attempt")).out, /^ATTEMPT +POD +KEPT +UNTIL\n2 .*\n3 .*\n4 .*$/);
    assert.equal((await run("log", "etl", "--attempt", "3")).out, "third");
    const gone = await run("log", "etl", "--attempt", "1");
    assert.deepEqual([gone.code, /no log of attempt 1 is kept/.test(gone.err)], [1, true]);
    assert.deepEqual(kept(stand), ["logs.sparkapplication.etl"]);
    await stand.remove("SparkApplication", "etl");
    await stand.until("its records are gone", () => stand.all("Checkpoint").length === 0);
  });

  it("keeps none without the setting", async (stand) => {
    await stand.host();
    await stand.create(application("etl", { spec: retried }));
    await over(stand, "COMPLETED");
    assert.deepEqual(kept(stand), []);
    assert.equal(
      stand.asked.some((call) => call.includes("/log")),
      false,
    );
    assert.match((await onTerminal(stand.simulator).run("log", "etl", "--attempt")).out, /^no logs are kept/);
  });

  it("goes on while kubelets do not answer, and tells that no log was kept", async (stand) => {
    await stand.host({ spark });
    stand.fault(({ path }) =>
      path.includes("/log?") ? answer(500, "InternalError", "the kubelet is away") : undefined,
    );
    await stand.create(application("etl", { spec: retried }));
    await over(stand, "COMPLETED");
    assert.deepEqual(kept(stand), []);
    const told = stand.all("Event").filter((event) => event["reason"] === "DriverLogNotKept");
    assert.equal(told.length, 4);
  });
});

describe("an application whose time to live is over", () => {
  itOnStand({ scripts: { etl: [{ jobMs: 1_000, log: "first\n" }] } })(
    "leaves the log of its driver for the time of the setting",
    async (stand) => {
      await stand.host({ spark });
      await stand.create(application("etl", { spec: { timeToLiveSeconds: 10 } }));
      await stand.until(
        "it is gone",
        () => stand.get("SparkApplication", "etl") === undefined && stand.all("Checkpoint").length === 1,
      );
      assert.equal((await onTerminal(stand.simulator).run("log", "etl", "--attempt", "1")).out, "first");
      await stand.pass(1.2);
      assert.deepEqual(kept(stand), []);
    },
  );
});
