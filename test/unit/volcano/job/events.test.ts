/** Events of a job: upstream's reasons and words, each only when there is news. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { volcanoCronJob } from "../../../../shared/volcano/cron/decide.ts";
import { volcanoJobFlow } from "../../../../shared/volcano/flow/decide.ts";
import { volcanoJob } from "../../../../shared/volcano/job/decide.ts";
import { volcanoQueue } from "../../../../shared/volcano/queue/decide.ts";
import { type JobFixture, openJob, task } from "./fixtures.ts";

const onFailure = (action: string, more = {}): object => ({ policies: [{ event: "PodFailed", action, ...more }] });
const running = (more: object = {}): JobFixture => openJob({ tasks: [task("w", 2)], ...more }).running();

/** Returns the Events of some steps as text, in order; of equal names only the last. */
const heard = (fixture: JobFixture, steps = 6): readonly string[] => {
  const lines = new Map<string, string>();
  for (let step = 0; step < steps; step += 1)
    for (const effect of fixture.step().stages.flat())
      if (effect.do === "record")
        lines.set(`${effect.reason} ${effect.occasion}`, `${effect.type} ${effect.reason}: ${effect.message}`);
  return [...lines.values()];
};

/** Returns the number of Events, with repeats. */
const often = (fixture: JobFixture, steps = 6): number =>
  Array.from(
    { length: steps },
    () =>
      fixture
        .step()
        .stages.flat()
        .filter((one) => one.do === "record").length,
  ).reduce((sum, one) => sum + one, 0);

const condition = (type: string, status: string, reason: string, time: string) => ({
  ...{ type, status, reason },
  ...{ message: `1/2 tasks in gang: ${reason}`, lastTransitionTime: `2026-11-02T08:00:${time}Z` },
});

/** Returns the Events about a PodGroup with these conditions. */
const grouped = (...conditions: readonly object[]): readonly string[] => {
  const fixture = openJob({ tasks: [task("w", 2)] }).run();
  for (const name of fixture.names("podgroups"))
    fixture.change("podgroups", name, { status: { phase: "Pending", conditions } });
  return heard(fixture);
};

describe("a job's step records as Events", () => {
  const rows: readonly (readonly [string, () => readonly string[], readonly string[]])[] = [
    [
      "an action of a policy",
      () => {
        const fixture = running(onFailure("RestartJob"));
        fixture.fail("j-w-0", 3);
        return heard(fixture);
      },
      ["Normal ExecuteAction: Start to execute action RestartJob (PodFailed of pod w-0 (exit code 3))"],
    ],
    [
      "an action with a timeout, and the action after the timeout",
      () => {
        const fixture = running(onFailure("AbortJob", { timeout: "10m" }));
        fixture.fail("j-w-0", 1);
        const first = heard(fixture, 3);
        fixture.turn(600_000);
        return [...first, ...heard(fixture)];
      },
      [
        "Normal ExecuteAction: Execute action AbortJob after 10m0s",
        "Normal ExecuteAction: Start to execute action AbortJob (PodFailed of pod w-0)",
      ],
    ],
    [
      "the coming action for Pending pods, once for all pods of one step",
      () => {
        const policies = [{ event: "PodPending", action: "RestartJob", timeout: "10s" }];
        const fixture = openJob({ tasks: [task("w", 2)], policies }).run();
        fixture.admit();
        return heard(fixture);
      },
      ["Normal ExecuteAction: Execute action RestartJob after 10s"],
    ],
    [
      "the scheduler's reason why the PodGroup is Unschedulable",
      () => grouped(condition("Unschedulable", "True", "NotEnoughResources", "00")),
      ["Warning PodGroupPending: PodGroup ns:j unschedulable, reason: 1/2 tasks in gang: NotEnoughResources"],
    ],
    [
      "no Unschedulable condition if a newer condition holds",
      () =>
        grouped(
          condition("Unschedulable", "True", "NotEnoughResources", "00"),
          condition("Scheduled", "True", "tasks in gang are ready", "09"),
        ),
      [],
    ],
    [
      "an Unschedulable condition if the newer condition is False",
      () =>
        grouped(
          condition("Unschedulable", "True", "NotEnoughResources", "00"),
          condition("Scheduled", "False", "x", "09"),
        ),
      ["Warning PodGroupPending: PodGroup ns:j unschedulable, reason: 1/2 tasks in gang: NotEnoughResources"],
    ],
  ];
  for (const [what, make, want] of rows) test(what, () => assert.deepEqual(make(), want));
});

describe("an Event is recorded once", () => {
  test("for an action, once the status shows the action", () => {
    const fixture = running(onFailure("AbortJob"));
    fixture.fail("j-w-0", 1);
    assert.equal(often(fixture), 1);
  });

  test("for Pending pods, while they are Pending", () => {
    const policies = [{ event: "PodPending", action: "RestartJob", timeout: "10s" }];
    const fixture = openJob({ tasks: [task("w", 2)], policies }).run();
    fixture.admit();
    assert.equal(often(fixture), 1);
  });

  test("for an action whose step died before the Event: the next step records it", () => {
    const fixture = running(onFailure("AbortJob"));
    fixture.fail("j-w-0", 1);
    fixture.step(true);
    assert.equal(heard(fixture).length, 1);
  });

  test("for an Unschedulable PodGroup, until the reason changes", () => {
    const fixture = openJob({ tasks: [task("w", 2)] }).run();
    const [name = ""] = fixture.names("podgroups");
    const hinder = (reason: string, message: string): void =>
      fixture.change("podgroups", name, {
        status: { phase: "Pending", conditions: [{ type: "Unschedulable", status: "True", reason, message }] },
      });
    hinder("NotEnoughResources", "2 Pending");
    assert.equal(often(fixture), 1);
    hinder("NotEnoughResources", "1 Pending");
    assert.equal(often(fixture), 0);
    hinder("NotEnoughPodsOfTask", "1 Pending");
    assert.equal(often(fixture), 1);
  });
});

describe("after a step that died between its save and its Events, the next step records once", () => {
  const onPending = (action: string): JobFixture => {
    const policies = [{ event: "PodPending", action, timeout: "10s" }];
    const fixture = openJob({ tasks: [task("w", 2)], policies }).run();
    fixture.admit();
    fixture.step();
    return fixture;
  };
  const delayed = (): JobFixture => {
    const fixture = running(onFailure("AbortJob", { timeout: "10m" }));
    fixture.fail("j-w-0", 1);
    return fixture;
  };
  const hindered = (): JobFixture => {
    const fixture = openJob({ tasks: [task("w", 2)] }).run();
    const conditions = [condition("Unschedulable", "True", "NotEnoughResources", "00")];
    fixture.change("podgroups", fixture.names("podgroups")[0] ?? "", { status: { phase: "Pending", conditions } });
    return fixture;
  };
  const rows: readonly (readonly [string, () => JobFixture])[] = [
    ["an action with a timeout", delayed],
    ["the coming action for Pending pods", () => onPending("RestartJob")],
    ["the reason why the PodGroup is Unschedulable", hindered],
  ];
  for (const [what, make] of rows)
    test(what, () => {
      const fixture = make();
      fixture.step(true);
      assert.equal(fixture.memory?.untold?.length, 1);
      assert.equal(often(fixture), 1);
      assert.equal(fixture.memory?.untold, undefined);
    });

  test("an action with a timeout, even if the action is due by then", () => {
    const fixture = delayed();
    fixture.step(true);
    fixture.turn(600_000);
    assert.deepEqual(heard(fixture), [
      "Normal ExecuteAction: Execute action AbortJob after 10m0s",
      "Normal ExecuteAction: Start to execute action AbortJob (PodFailed of pod w-0)",
    ]);
  });

  test("an action, even if the next step leaves the phase of the action", () => {
    const fixture = running({ ...onFailure("RestartPod"), maxRetry: 9 });
    fixture.lingering = true;
    fixture.fail("j-w-0", 1);
    fixture.run();
    fixture.fail("j-w-1", 2);
    fixture.step(true);
    fixture.release();
    fixture.remove("pods", "j-w-1");
    assert.deepEqual(heard(fixture), [
      "Normal ExecuteAction: Start to execute action RestartPod (PodFailed of pod w-1 (exit code 2))",
    ]);
  });

  const comers = [
    ["no second announcement of a waiting action of the job for a later pod", "RestartJob", 0],
    ["an announcement for each later pod of an action per pod", "RestartPod", 1],
  ] as const;
  for (const [what, action, times] of comers)
    test(what, () => {
      const fixture = onPending(action);
      fixture.run();
      fixture.turn(2_000);
      fixture.remove("pods", "j-w-1");
      assert.equal(often(fixture), times);
    });
});

test("all kinds record Events in the name of upstream's controller", () => {
  const kinds = [volcanoJob, volcanoQueue(), volcanoCronJob({ settledMs: 0 }), volcanoJobFlow({ settledMs: 0 })];
  assert.deepEqual(
    kinds.map(({ component }) => component),
    kinds.map(() => "vc-controller-manager"),
  );
});

test("an unknown plugin flag, without its value, is in the status and one Event, and does not stop the job", () => {
  const fixture = openJob({ tasks: [task("w", 1)], plugins: { ssh: ["--ssh-privat-key=MIIEsecret"] } });
  const told = () =>
    fixture
      .step()
      .stages.flat()
      .flatMap((one) => (one.do === "record" ? [`${one.type} ${one.reason} ${one.message}`] : []));
  const saying = "spec.plugins.ssh: flag --ssh-privat-key is unknown";
  const first = told();
  assert.deepEqual([first.length, told(), told()], [1, [], []]);
  assert.ok(first[0]?.startsWith(`Warning PluginFlagIgnored ${saying}`), first[0]);
  const { reason, message = "" } = Object(fixture.status().state);
  assert.deepEqual([reason, String(message).startsWith(saying)], ["PluginFlagIgnored", true]);
  assert.equal(fixture.running().names("pods").length, 1);
  assert.doesNotMatch(JSON.stringify([first, fixture.status(), fixture.memory]), /MIIEsecret/);
});
