/** The one action of a step: commands come first, and each is taken once, at whichever call a step dies. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertLinear } from "../../../support/growth.ts";
import { does } from "../../../support/plans.ts";
import { eight, Loop, task } from "./loop.ts";

const phaseOf = (loop: Loop): string | undefined => loop.status().state?.phase;

type More = { readonly kind?: string; readonly uid?: string; readonly name?: string };

/** Creates a Command as vcctl writes it, with these fields changed. */
const order = (loop: Loop, name: string, action: string, { kind = "Job", uid, name: whose = "j" }: More = {}): void => {
  loop.put("commands", {
    apiVersion: "bus.volcano.sh/v1alpha1",
    kind: "Command",
    metadata: { name, namespace: "ns" },
    action,
    target: { apiVersion: "batch.volcano.sh/v1alpha1", kind, name: whose, uid: uid ?? loop.job().metadata.uid },
  });
};

const told = (loop: Loop): readonly string[] =>
  (loop.last?.stages ?? []).flat().flatMap((effect) => (effect.do === "record" ? [effect.message] : []));

const running = (more = {}): Loop => new Loop({ tasks: [task("w", 2)], ...more }).running();

describe("a Command", () => {
  const ends = [
    ["AbortJob", "Aborted"],
    ["TerminateJob", "Terminated"],
    ["CompleteJob", "Completed"],
  ] as const;
  for (const [action, phase] of ends)
    test(`${action} leads a running job to ${phase} and is deleted`, () => {
      const loop = running();
      order(loop, "c", action);
      loop.run();
      assert.equal(phaseOf(loop), phase);
      assert.deepEqual([loop.names("commands"), loop.names("pods")], [[], []]);
      assert.match(loop.memory?.why?.message ?? "CommandIssued", /CommandIssued/);
    });

  test("leads to upstream's Events when it is obeyed", () => {
    const loop = running();
    order(loop, "c", "AbortJob");
    loop.step();
    assert.deepEqual(told(loop), [
      "Start to execute command AbortJob, and clean it up to make sure executed not more than once.",
      "Start to execute action AbortJob (CommandIssued)",
    ]);
  });

  test("is obeyed once, even if steps die after their save or a stale read returns it again", () => {
    const loop = running();
    order(loop, "c", "RestartJob");
    const command = loop.objects.get("commands/c");
    loop.step(true);
    loop.step(true);
    loop.run();
    assert.deepEqual([loop.names("commands"), loop.status()["retryCount"]], [[], 1]);
    assert.ok(command !== undefined);
    loop.objects.set("commands/c", command);
    loop.run();
    assert.deepEqual([loop.names("commands"), loop.status()["retryCount"]], [[], 1]);
  });

  test("ends a job that is restarting", () => {
    const loop = running();
    loop.lingering = true;
    order(loop, "c", "RestartJob");
    loop.run();
    assert.equal(phaseOf(loop), "Restarting");
    order(loop, "d", "AbortJob");
    loop.run();
    loop.release();
    loop.run();
    assert.deepEqual(loop.phases.slice(-3), ["Restarting", "Aborting", "Aborted"]);
  });

  test("resumes a job that another Command has aborted, and several are obeyed in the order of their age", () => {
    const loop = running();
    order(loop, "z-first", "AbortJob");
    loop.turn(1_000);
    order(loop, "a-second", "ResumeJob");
    loop.run();
    assert.deepEqual(loop.phases.slice(2), ["Aborting", "Restarting", "Pending"]);
    assert.deepEqual(loop.names("commands"), []);
  });

  test("takes precedence over a pod failure of the same step", () => {
    const loop = running({ policies: [{ event: "PodFailed", action: "RestartJob" }] });
    loop.fail("j-w-0", 1);
    order(loop, "c", "TerminateJob");
    loop.run();
    assert.deepEqual([phaseOf(loop), loop.status()["retryCount"]], ["Terminated", undefined]);
  });

  test("ends a job that waits for its queue", () => {
    const loop = new Loop({ queue: "nobody", tasks: [task("w", 1)] }).run();
    order(loop, "c", "AbortJob");
    loop.run();
    assert.equal(phaseOf(loop), "Aborted");
  });

  test("that is older than the first step is obeyed when the status has the job's first phase", () => {
    const loop = new Loop({ tasks: [task("w", 1)] });
    order(loop, "c", "AbortJob");
    loop.run();
    assert.deepEqual(loop.phases, ["Pending", "Aborting", "Aborted"]);
  });

  const idle = [
    ["of an unknown action", "Explode", {}, /asks for "Explode", which is not one of AbortJob/],
    ["for a part of the job, which it cannot name", "RestartTask", {}, /asks for "RestartTask"/],
    ["for a queue's action", "CloseQueue", {}, /asks for "CloseQueue"/],
    ["for an earlier job of the name", "AbortJob", { uid: "another" }, /was for an earlier object of this name/],
  ] as const;
  for (const [what, action, more, saying] of idle)
    test(`${what} leads to an Event, is deleted, and changes nothing`, () => {
      const loop = running();
      const { phase, retryCount } = { phase: phaseOf(loop), retryCount: loop.memory?.retryCount };
      order(loop, "c", action, more);
      loop.step();
      assert.match(told(loop).join(), saying);
      loop.run();
      assert.deepEqual([phaseOf(loop), loop.memory?.retryCount, loop.names("commands")], [phase, retryCount, []]);
    });

  test("without a UID is for the job that had the name at its creation", () => {
    const loop = running();
    order(loop, "c", "AbortJob", { uid: "" });
    loop.run();
    assert.equal(phaseOf(loop), "Aborted");
  });

  test("for another object is left alone", () => {
    const loop = running();
    order(loop, "queue", "AbortJob", { kind: "Queue" });
    order(loop, "other", "AbortJob", { name: "k" });
    loop.run();
    assert.deepEqual([phaseOf(loop), loop.names("commands")], ["Running", ["queue", "other"]]);
  });

  test("is deleted when its job is gone, even if it has no owner", () => {
    const loop = running();
    order(loop, "c", "AbortJob");
    loop.remove("jobs", "j");
    loop.step();
    assert.deepEqual(loop.names("commands"), []);
  });

  test("changes nothing about a job that has ended", () => {
    const loop = running();
    loop.pods("Succeeded");
    loop.run();
    order(loop, "c", "RestartJob");
    loop.run();
    assert.deepEqual([phaseOf(loop), loop.names("commands")], ["Completed", []]);
    assert.equal(does(loop.last, "rest"), true);
  });
});

describe("a step writes a phase to the status before it leaves the phase for", () => {
  const restarting = (more = {}): Loop => {
    const loop = running({ policies: [{ event: "PodFailed", action: "RestartJob", ...more }] });
    loop.fail("j-w-0", 1);
    return loop;
  };
  const rows: readonly (readonly [string, () => Loop])[] = [
    ["a failure", () => restarting()],
    ["an action after its timeout", () => restarting({ timeout: "10m" }).run().turn(600_000)],
  ];
  for (const [what, make] of rows)
    test(what, () => {
      const loop = make();
      loop.put("jobs", { ...loop.job(), status: {} });
      loop.phases.length = 0;
      assert.deepEqual([does(loop.step(), "again"), loop.phases], [true, ["Running"]]);
      loop.step();
      assert.deepEqual(loop.phases, ["Running", "Restarting"]);
    });
});

describe("failures of many pods at once", () => {
  const failing = (pods: number): Loop => {
    const policies = [{ event: "PodFailed", action: "RestartPod", timeout: "1h" }];
    const loop = new Loop({ minAvailable: 1, tasks: [task("w", pods)], policies });
    loop.run();
    loop.admit();
    loop.run();
    loop.pods("Failed", loop.names("pods").slice(100));
    loop.pods("Running", loop.names("pods").slice(0, 100));
    return loop;
  };

  test("are each counted, and delayed", () => {
    const loop = failing(3_000);
    loop.step();
    assert.equal(loop.memory?.delays.length, 2_900);
    assert.equal(loop.memory?.delays[0]?.dueAt, eight + 3_600_000);
    assert.equal(loop.memory?.failed["w"], "100-2999");
  });

  test("take work that grows linearly with their number", () => {
    const [before, dies] = [new Map<Loop, Loop["memory"]>(), true];
    assertLinear(
      375,
      (pods) => {
        const loop = failing(pods);
        before.set(loop, loop.memory);
        return loop;
      },
      (loop) => {
        loop.memory = before.get(loop);
        loop.step(dies);
      },
    );
  });
});
