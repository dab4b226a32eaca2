/** Jobs that use Rekindle's annotations: spent retries, waits between restarts, and early ends. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { does, waitIn } from "../../../support/plans.ts";
import { eight, type JobFixture, openJob, phaseOf, task } from "./fixtures.ts";

type Texts = Readonly<Record<string, string>>;

const annotated = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [`rekindle.dev/${name}`, text]));

const loopOf = (texts: Texts, more: object = {}): JobFixture => {
  const fixture = openJob({ tasks: [task("chief", 1), task("w", 2)], maxRetry: 3, ...more });
  fixture.change("jobs", "j", { metadata: { annotations: annotated(texts) } });
  return fixture;
};

const running = (texts: Texts, more: object = {}): JobFixture => loopOf(texts, more).running();

const on = (event: string, action: string, more: object = {}): object => ({ policies: [{ event, action, ...more }] });

/** Steps to the point at which pods are created again, unless a wait holds them back. */
const again = (fixture: JobFixture): JobFixture => {
  fixture.run();
  fixture.admit();
  return fixture.run();
};

const spent = (fixture: JobFixture): unknown => fixture.run().status()["retryCount"] ?? 0;

const order = (fixture: JobFixture, action: string): void => {
  fixture.put("commands", {
    ...{
      apiVersion: "bus.volcano.sh/v1alpha1",
      kind: "Command",
      metadata: { name: action.toLowerCase(), namespace: "ns" },
    },
    action,
    target: { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "j", uid: fixture.own().metadata.uid },
  });
};

const disrupt = (fixture: JobFixture, reason: string): void => {
  const conditions = [{ type: "DisruptionTarget", status: "True", reason }];
  fixture.pods("Failed", ["j-w-0"], { conditions });
};

describe("a retry", () => {
  const rows: readonly (readonly [string, Texts, object, (fixture: JobFixture) => void, number])[] = [
    ["is spent on a pod that was deleted", {}, on("PodEvicted", "RestartJob"), (l) => l.remove("pods", "j-w-0"), 1],
    [
      "is not spent on a deleted pod where evictions are free",
      { evictions: "free" },
      on("PodEvicted", "RestartJob"),
      (l) => l.remove("pods", "j-w-0"),
      0,
    ],
    [
      "is not spent on a preempted pod",
      { evictions: "free" },
      on("PodFailed", "RestartJob"),
      (l) => disrupt(l, "PreemptionByScheduler"),
      0,
    ],
    [
      "is not spent on a lost node",
      { evictions: "free" },
      on("PodFailed", "RestartTask"),
      (l) => disrupt(l, "DeletionByTaintManager"),
      0,
    ],
    ["is spent on a failure", { evictions: "free" }, on("PodFailed", "RestartJob"), (l) => l.fail("j-w-0", 1), 1],
    ["is spent by a resume", {}, {}, (l) => [order(l, "AbortJob"), l.run(), order(l, "ResumeJob")], 1],
    [
      "is not spent by a resume where resumes are free",
      { resumes: "free" },
      {},
      (l) => [order(l, "AbortJob"), l.run(), order(l, "ResumeJob")],
      0,
    ],
    ["is spent by a Command RestartJob", { resumes: "free", evictions: "free" }, {}, (l) => order(l, "RestartJob"), 1],
  ];
  for (const [what, texts, more, happens, want] of rows)
    test(what, () => {
      const fixture = running(texts, more);
      happens(fixture);
      assert.equal(spent(fixture), want);
    });

  test("is not spent on an eviction whose action had a timeout", () => {
    const fixture = running({ evictions: "free" }, on("PodFailed", "RestartJob", { timeout: "1m" }));
    disrupt(fixture, "EvictionByEvictionAPI");
    fixture.run().turn(60_000);
    assert.deepEqual([spent(fixture), fixture.memory?.version], [0, 1]);
  });
});

describe("a wait between restarts", () => {
  const waiting = (texts: Texts = {}): JobFixture =>
    running({ "restart-backoff": "10s", ...texts }, { ...on("PodFailed", "RestartJob"), maxRetry: 9 });

  test("delays pods and PodGroup, sets a timer, and states its end in the status", () => {
    const fixture = waiting();
    fixture.fail("j-w-0", 1);
    again(fixture);
    assert.deepEqual([phaseOf(fixture), fixture.names("pods"), fixture.names("podgroups")], ["Restarting", [], []]);
    assert.equal(waitIn(fixture.last).wakeAt, eight + 10_000);
    assert.match(fixture.status().state?.message ?? "", /pods are created at 2026-11-02T08:00:10Z$/);
    again(fixture.turn(10_000));
    assert.deepEqual([phaseOf(fixture), fixture.names("pods").length], ["Pending", 3]);
  });

  test("doubles with each restart, even if steps die after their save", () => {
    const fixture = waiting();
    for (const [seconds, restarts] of [
      [10, 1],
      [20, 2],
      [40, 3],
    ] as const) {
      fixture.fail("j-w-0", 1);
      fixture.step(true);
      again(fixture);
      assert.deepEqual(
        [fixture.memory?.backoff?.restarts, (waitIn(fixture.last).wakeAt ?? 0) - fixture.now],
        [restarts, seconds * 1_000],
      );
      again(fixture.turn(seconds * 1_000));
      fixture.pods("Running");
      fixture.run();
    }
  });

  test("of one pod's restart leaves the other pods alone", () => {
    const fixture = running({ "restart-backoff": "10s" }, on("PodFailed", "RestartPod"));
    fixture.fail("j-w-0", 1);
    again(fixture);
    assert.deepEqual([phaseOf(fixture), fixture.names("pods")], ["Restarting", ["j-chief-0", "j-w-1"]]);
    again(fixture.turn(10_000));
    assert.deepEqual(fixture.names("pods"), ["j-chief-0", "j-w-1", "j-w-0"]);
  });

  test("does not repeat steps while it lasts, and a pod that is lost in it counts after it", () => {
    const policies = [
      { event: "PodFailed", action: "RestartPod" },
      { event: "PodEvicted", action: "RestartJob" },
    ];
    const fixture = running({ "restart-backoff": "10s" }, { policies });
    fixture.fail("j-w-0", 1);
    again(fixture);
    fixture.remove("pods", "j-w-1");
    fixture.run();
    assert.notEqual(does(fixture.last, "again"), true);
    again(fixture.turn(10_000));
    assert.equal(fixture.status()["retryCount"], 2);
  });

  test("does not apply to a job without a retry left, nor to a job that is resumed", () => {
    const out = running({ "restart-backoff": "10s" }, { ...on("PodFailed", "RestartJob"), maxRetry: 1 });
    out.fail("j-w-0", 1);
    assert.equal(phaseOf(out.run()), "Failed");
    const fixture = waiting();
    fixture.fail("j-w-0", 1);
    fixture.run();
    order(fixture, "AbortJob");
    fixture.run();
    order(fixture, "ResumeJob");
    again(fixture);
    assert.equal(fixture.names("pods").length, 3);
  });
});

describe("the active deadline of a job", () => {
  test("sets a timer from the first Running phase, across restarts, and terminates the job", () => {
    const fixture = running({ "active-deadline": "10m" }, on("PodFailed", "RestartPod"));
    assert.equal(waitIn(fixture.last).wakeAt, eight + 600_000);
    fixture.turn(60_000).fail("j-w-0", 1);
    again(fixture);
    fixture.pods("Running");
    assert.equal(waitIn(fixture.run().last).wakeAt, eight + 600_000);
    fixture.turn(540_000).step();
    assert.equal(fixture.status().state?.message, "DeadlineExceeded after 10m");
    fixture.run();
    assert.deepEqual(fixture.phases.slice(-2), ["Terminating", "Terminated"]);
  });

  test("does not count the time before the first Running phase, nor the time of an aborted job", () => {
    const fixture = loopOf({ "active-deadline": "10m" }).run().turn(3_600_000);
    assert.equal(waitIn(fixture.run().last).wakeAt, undefined);
    const late = running({ "active-deadline": "10m" });
    order(late, "AbortJob");
    late.run().turn(3_600_000);
    order(late, "ResumeJob");
    again(late);
    late.pods("Running");
    assert.equal(waitIn(late.run().last).wakeAt, late.now + 600_000);
  });

  test("of a job from upstream's controller counts from its Running condition", () => {
    const conditions = [{ status: "Running", lastTransitionTime: "2026-11-02T07:00:00Z" }];
    const fixture = loopOf({ "active-deadline": "90m" });
    fixture.change("jobs", "j", { status: { state: { phase: "Running" }, conditions } });
    assert.equal(waitIn(fixture.run().last).wakeAt, eight + 30 * 60_000);
  });
});

describe("suspension by annotation", () => {
  const say = (fixture: JobFixture, text: string): JobFixture => {
    fixture.change("jobs", "j", { metadata: { annotations: annotated({ suspend: text }) } });
    return fixture.run();
  };

  test("aborts a job, and its removal resumes the job without a retry", () => {
    const fixture = say(running({}), "true");
    assert.deepEqual([phaseOf(fixture), fixture.names("pods")], ["Aborted", []]);
    again(say(fixture, "false"));
    assert.deepEqual([fixture.names("pods").length, fixture.status()["retryCount"]], [3, undefined]);
    assert.deepEqual(fixture.phases.slice(2), ["Aborting", "Aborted", "Restarting", "Pending"]);
  });

  test("is looked at by each resync, as its removal changes no generation; an abort by a Command is not", () => {
    assert.equal(say(running({}), "true").last?.next.do, "wait");
    const fixture = running({});
    order(fixture, "AbortJob");
    assert.equal(fixture.run().last?.next.do, "rest");
  });

  test("creates no pod of a job that is suspended from the beginning", () => {
    const fixture = loopOf({ suspend: "true" }).run();
    assert.equal(phaseOf(fixture), "Aborted");
    assert.equal(fixture.deeds.filter((deed) => /create pod/.test(deed)).length, 0);
  });

  test("does not, by its removal, resume a job that a Command has aborted", () => {
    const fixture = running({});
    order(fixture, "AbortJob");
    fixture.run();
    assert.equal(phaseOf(say(say(fixture, "true"), "false")), "Aborted");
  });
});

describe("exit codes", () => {
  const rows = [
    [[3], "RestartPod", ["j-w-0"]],
    [[0, 140], "TerminateJob", []],
    [[77], "by the policy", []],
  ] as const;
  for (const [codes, what] of rows)
    test(`${codes.join(" and ")} lead to ${what}`, () => {
      const fixture = running({ "exit-codes": "1-9=RestartPod; 137-143=TerminateJob" }, on("PodFailed", "CompleteJob"));
      fixture.fail("j-w-0", ...codes);
      fixture.run();
      const led = { 3: "Pending", 0: "Terminated", 77: "Completed" }[codes[0]];
      assert.equal(phaseOf(fixture), led);
    });
});

describe("success targets", () => {
  const rows: readonly (readonly [string, string, readonly string[], string])[] = [
    ["of the chief complete the job when the chief succeeded", "chief", ["j-chief-0"], "Completed"],
    ["of one pod of a task complete the job when one pod succeeded", "w=1", ["j-w-1"], "Completed"],
    ["of a task wait until all of its pods have succeeded", "w", ["j-w-1"], "Running"],
    ["of several tasks wait until all tasks have succeeded", "chief, w=1", ["j-chief-0"], "Running"],
    ["with alternatives complete the job when one alternative is met", "chief, w / w=1", ["j-w-0"], "Completed"],
  ];
  for (const [what, text, succeeded, want] of rows)
    test(what, () => {
      const fixture = running({ "success-targets": text });
      fixture.pods("Succeeded", succeeded);
      assert.equal(phaseOf(fixture.run()), want);
    });

  test("take precedence over a failure in the same step", () => {
    const fixture = running({ "success-targets": "chief" }, on("PodFailed", "AbortJob"));
    fixture.pods("Succeeded", ["j-chief-0"]);
    fixture.fail("j-w-0", 1);
    assert.equal(phaseOf(fixture.run()), "Completed");
  });
});

test("an invalid annotation stands in the status, leads to one Event, and does not stop the job", () => {
  const fixture = loopOf({ evictions: "never" });
  const told = (): number =>
    fixture
      .step()
      .stages.flat()
      .filter((one) => one.do === "record" && one.reason === "RekindleAnnotationIgnored").length;
  assert.deepEqual([told(), told(), told()], [1, 0, 0]);
  assert.match(fixture.status().state?.message ?? "", /rekindle.dev\/evictions\]: "never" is not one of count, free/);
  assert.equal(fixture.running().names("pods").length, 3);
});
