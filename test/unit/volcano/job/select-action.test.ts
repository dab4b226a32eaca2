/** The one action of a step: commands come first, and each is taken once, at whichever call a step dies. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertLinear } from "../../../support/growth.ts";
import { does } from "../../../support/plans.ts";
import { eight, type JobFixture, openJob, phaseOf, task } from "./fixtures.ts";

type More = { readonly kind?: string; readonly uid?: string; readonly name?: string };

/** Creates a Command as vcctl writes it, with these fields changed. */
const order = (
  fixture: JobFixture,
  name: string,
  action: string,
  { kind = "Job", uid, name: whose = "j" }: More = {},
): void => {
  fixture.put("commands", {
    apiVersion: "bus.volcano.sh/v1alpha1",
    kind: "Command",
    metadata: { name, namespace: "ns" },
    action,
    target: { apiVersion: "batch.volcano.sh/v1alpha1", kind, name: whose, uid: uid ?? fixture.own().metadata.uid },
  });
};

const told = (fixture: JobFixture): readonly string[] =>
  (fixture.last?.stages ?? []).flat().flatMap((effect) => (effect.do === "record" ? [effect.message] : []));

const running = (more = {}): JobFixture => openJob({ tasks: [task("w", 2)], ...more }).running();

describe("a Command", () => {
  const ends = [
    ["AbortJob", "Aborted"],
    ["TerminateJob", "Terminated"],
    ["CompleteJob", "Completed"],
  ] as const;
  for (const [action, phase] of ends)
    test(`${action} leads a running job to ${phase} and is deleted`, () => {
      const fixture = running();
      order(fixture, "c", action);
      fixture.run();
      assert.equal(phaseOf(fixture), phase);
      assert.deepEqual([fixture.names("commands"), fixture.names("pods")], [[], []]);
      assert.match(fixture.memory?.why?.message ?? "CommandIssued", /CommandIssued/);
    });

  test("leads to upstream's Events when it is obeyed", () => {
    const fixture = running();
    order(fixture, "c", "AbortJob");
    fixture.step();
    assert.deepEqual(told(fixture), [
      "Start to execute command AbortJob, and clean it up to make sure executed not more than once.",
      "Start to execute action AbortJob (CommandIssued)",
    ]);
  });

  test("is obeyed once, even if steps die after their save or a stale read returns it again", () => {
    const fixture = running();
    order(fixture, "c", "RestartJob");
    const command = fixture.objects.get("commands/c");
    fixture.step(true);
    fixture.step(true);
    fixture.run();
    assert.deepEqual([fixture.names("commands"), fixture.status()["retryCount"]], [[], 1]);
    assert.ok(command !== undefined);
    fixture.objects.set("commands/c", command);
    fixture.run();
    assert.deepEqual([fixture.names("commands"), fixture.status()["retryCount"]], [[], 1]);
  });

  test("ends a job that is restarting", () => {
    const fixture = running();
    fixture.lingering = true;
    order(fixture, "c", "RestartJob");
    fixture.run();
    assert.equal(phaseOf(fixture), "Restarting");
    order(fixture, "d", "AbortJob");
    fixture.run();
    fixture.release();
    fixture.run();
    assert.deepEqual(fixture.phases.slice(-3), ["Restarting", "Aborting", "Aborted"]);
  });

  test("resumes a job that another Command has aborted, and several are obeyed in the order of their age", () => {
    const fixture = running();
    order(fixture, "z-first", "AbortJob");
    fixture.turn(1_000);
    order(fixture, "a-second", "ResumeJob");
    fixture.run();
    assert.deepEqual(fixture.phases.slice(2), ["Aborting", "Restarting", "Pending"]);
    assert.deepEqual(fixture.names("commands"), []);
  });

  test("takes precedence over a pod failure of the same step", () => {
    const fixture = running({ policies: [{ event: "PodFailed", action: "RestartJob" }] });
    fixture.fail("j-w-0", 1);
    order(fixture, "c", "TerminateJob");
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.status()["retryCount"]], ["Terminated", undefined]);
  });

  test("ends a job that waits for its queue", () => {
    const fixture = openJob({ queue: "nobody", tasks: [task("w", 1)] }).run();
    order(fixture, "c", "AbortJob");
    fixture.run();
    assert.equal(phaseOf(fixture), "Aborted");
  });

  test("that is older than the first step is obeyed when the status has the job's first phase", () => {
    const fixture = openJob({ tasks: [task("w", 1)] });
    order(fixture, "c", "AbortJob");
    fixture.run();
    assert.deepEqual(fixture.phases, ["Pending", "Aborting", "Aborted"]);
  });

  const idle = [
    ["of an unknown action", "Explode", {}, /asks for "Explode", which is not one of AbortJob/],
    ["for a part of the job, which it cannot name", "RestartTask", {}, /asks for "RestartTask"/],
    ["for a queue's action", "CloseQueue", {}, /asks for "CloseQueue"/],
    ["for an earlier job of the name", "AbortJob", { uid: "another" }, /was for an earlier object of this name/],
  ] as const;
  for (const [what, action, more, saying] of idle)
    test(`${what} leads to an Event, is deleted, and changes nothing`, () => {
      const fixture = running();
      const { phase, retryCount } = { phase: phaseOf(fixture), retryCount: fixture.memory?.retryCount };
      order(fixture, "c", action, more);
      fixture.step();
      assert.match(told(fixture).join(), saying);
      fixture.run();
      assert.deepEqual(
        [phaseOf(fixture), fixture.memory?.retryCount, fixture.names("commands")],
        [phase, retryCount, []],
      );
    });

  test("without a UID is for the job that had the name at its creation", () => {
    const fixture = running();
    order(fixture, "c", "AbortJob", { uid: "" });
    fixture.run();
    assert.equal(phaseOf(fixture), "Aborted");
  });

  test("for another object is left alone", () => {
    const fixture = running();
    order(fixture, "queue", "AbortJob", { kind: "Queue" });
    order(fixture, "other", "AbortJob", { name: "k" });
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.names("commands")], ["Running", ["queue", "other"]]);
  });

  test("is deleted when its job is gone, even if it has no owner", () => {
    const fixture = running();
    order(fixture, "c", "AbortJob");
    fixture.remove("jobs", "j");
    fixture.step();
    assert.deepEqual(fixture.names("commands"), []);
  });

  test("changes nothing about a job that has ended", () => {
    const fixture = running();
    fixture.pods("Succeeded");
    fixture.run();
    order(fixture, "c", "RestartJob");
    fixture.run();
    assert.deepEqual([phaseOf(fixture), fixture.names("commands")], ["Completed", []]);
    assert.equal(does(fixture.last, "rest"), true);
  });
});

describe("a step writes a phase to the status before it leaves the phase for", () => {
  const restarting = (more = {}): JobFixture => {
    const fixture = running({ policies: [{ event: "PodFailed", action: "RestartJob", ...more }] });
    fixture.fail("j-w-0", 1);
    return fixture;
  };
  const rows: readonly (readonly [string, () => JobFixture])[] = [
    ["a failure", () => restarting()],
    ["an action after its timeout", () => restarting({ timeout: "10m" }).run().turn(600_000)],
  ];
  for (const [what, make] of rows)
    test(what, () => {
      const fixture = make();
      fixture.put("jobs", { ...fixture.own(), status: {} });
      fixture.phases.length = 0;
      assert.deepEqual([does(fixture.step(), "again"), fixture.phases], [true, ["Running"]]);
      fixture.step();
      assert.deepEqual(fixture.phases, ["Running", "Restarting"]);
    });
});

describe("failures of many pods at once", () => {
  const failing = (pods: number): JobFixture => {
    const policies = [{ event: "PodFailed", action: "RestartPod", timeout: "1h" }];
    const fixture = openJob({ minAvailable: 1, tasks: [task("w", pods)], policies });
    fixture.run();
    fixture.admit();
    fixture.run();
    fixture.pods("Failed", fixture.names("pods").slice(100));
    fixture.pods("Running", fixture.names("pods").slice(0, 100));
    return fixture;
  };

  test("are each counted, and delayed", () => {
    const fixture = failing(3_000);
    fixture.step();
    assert.equal(fixture.memory?.delays.length, 2_900);
    assert.equal(fixture.memory?.delays[0]?.dueAt, eight + 3_600_000);
    assert.equal(fixture.memory?.failed["w"], "100-2999");
  });

  test("take work that grows linearly with their number", () => {
    const [before, dies] = [new Map<JobFixture, JobFixture["memory"]>(), true];
    assertLinear(
      375,
      (pods) => {
        const fixture = failing(pods);
        before.set(fixture, fixture.memory);
        return fixture;
      },
      (fixture) => {
        fixture.memory = before.get(fixture);
        fixture.step(dies);
      },
    );
  });
});
