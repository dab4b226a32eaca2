/** Events of a job: upstream's reasons and words, each only when there is news. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { volcanoCronJob } from "../../../../shared/volcano/cron/decide.ts";
import { volcanoJobFlow } from "../../../../shared/volcano/flow/decide.ts";
import { volcanoJob } from "../../../../shared/volcano/job/decide.ts";
import { volcanoQueue } from "../../../../shared/volcano/queue/decide.ts";
import { Loop, task } from "./loop.ts";

const onFailure = (action: string, more = {}): object => ({ policies: [{ event: "PodFailed", action, ...more }] });
const running = (more: object = {}): Loop => new Loop({ tasks: [task("w", 2)], ...more }).running();

/** Returns the Events of some steps as text, in order; of equal names only the last. */
const heard = (loop: Loop, steps = 6): readonly string[] => {
  const lines = new Map<string, string>();
  for (let step = 0; step < steps; step += 1)
    for (const effect of loop.step().stages.flat())
      if (effect.do === "record")
        lines.set(`${effect.reason} ${effect.occasion}`, `${effect.type} ${effect.reason}: ${effect.message}`);
  return [...lines.values()];
};

/** Returns the number of Events, with repeats. */
const often = (loop: Loop, steps = 6): number =>
  Array.from(
    { length: steps },
    () =>
      loop
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
  const loop = new Loop({ tasks: [task("w", 2)] }).run();
  for (const name of loop.names("podgroups"))
    loop.change("podgroups", name, { status: { phase: "Pending", conditions } });
  return heard(loop);
};

describe("what happens to a job is told", () => {
  const rows: readonly (readonly [string, () => readonly string[], readonly string[]])[] = [
    [
      "an action of a policy",
      () => {
        const loop = running(onFailure("RestartJob"));
        loop.fail("j-w-0", 3);
        return heard(loop);
      },
      ["Normal ExecuteAction: Start to execute action RestartJob (PodFailed of pod w-0 (exit code 3))"],
    ],
    [
      "an action that waits, and the action when its time has come",
      () => {
        const loop = running(onFailure("AbortJob", { timeout: "10m" }));
        loop.fail("j-w-0", 1);
        const first = heard(loop, 3);
        loop.turn(600_000);
        return [...first, ...heard(loop)];
      },
      [
        "Normal ExecuteAction: Execute action AbortJob after 10m0s",
        "Normal ExecuteAction: Start to execute action AbortJob (PodFailed of pod w-0)",
      ],
    ],
    [
      "that pods which wait for too long will lead to an action, once for all of a moment",
      () => {
        const policies = [{ event: "PodPending", action: "RestartJob", timeout: "10s" }];
        const loop = new Loop({ tasks: [task("w", 2)], policies }).run();
        loop.admit();
        return heard(loop);
      },
      ["Normal ExecuteAction: Execute action RestartJob after 10s"],
    ],
    [
      "what the scheduler says is in the way of its group",
      () => grouped(condition("Unschedulable", "True", "NotEnoughResources", "00")),
      ["Warning PodGroupPending: PodGroup ns:j unschedulable, reason: 1/2 tasks in gang: NotEnoughResources"],
    ],
    [
      "of what the scheduler says only the newest that holds",
      () =>
        grouped(
          condition("Unschedulable", "True", "NotEnoughResources", "00"),
          condition("Scheduled", "True", "tasks in gang are ready", "09"),
        ),
      [],
    ],
    [
      "and what it has taken back is not told",
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

describe("what was told is not told again", () => {
  test("of an action, once the status shows it", () => {
    const loop = running(onFailure("AbortJob"));
    loop.fail("j-w-0", 1);
    assert.equal(often(loop), 1);
  });

  test("of pods that wait, while they do", () => {
    const policies = [{ event: "PodPending", action: "RestartJob", timeout: "10s" }];
    const loop = new Loop({ tasks: [task("w", 2)], policies }).run();
    loop.admit();
    assert.equal(often(loop), 1);
  });

  test("of an action whose step died before it told, it is told by the next", () => {
    const loop = running(onFailure("AbortJob"));
    loop.fail("j-w-0", 1);
    loop.step(true);
    assert.equal(heard(loop).length, 1);
  });

  test("of a hindrance, until it is another one", () => {
    const loop = new Loop({ tasks: [task("w", 2)] }).run();
    const [name = ""] = loop.names("podgroups");
    const hinder = (reason: string, message: string): void =>
      loop.change("podgroups", name, {
        status: { phase: "Pending", conditions: [{ type: "Unschedulable", status: "True", reason, message }] },
      });
    hinder("NotEnoughResources", "2 Pending");
    assert.equal(often(loop), 1);
    hinder("NotEnoughResources", "1 Pending");
    assert.equal(often(loop), 0);
    hinder("NotEnoughPodsOfTask", "1 Pending");
    assert.equal(often(loop), 1);
  });
});

describe("who dies between the save and the telling leaves it to the next, who tells it once", () => {
  const onPending = (action: string): Loop => {
    const policies = [{ event: "PodPending", action, timeout: "10s" }];
    const loop = new Loop({ tasks: [task("w", 2)], policies }).run();
    loop.admit();
    loop.step();
    return loop;
  };
  const delayed = (): Loop => {
    const loop = running(onFailure("AbortJob", { timeout: "10m" }));
    loop.fail("j-w-0", 1);
    return loop;
  };
  const hindered = (): Loop => {
    const loop = new Loop({ tasks: [task("w", 2)] }).run();
    const conditions = [condition("Unschedulable", "True", "NotEnoughResources", "00")];
    loop.change("podgroups", loop.names("podgroups")[0] ?? "", { status: { phase: "Pending", conditions } });
    return loop;
  };
  const rows: readonly (readonly [string, () => Loop])[] = [
    ["that an action waits", delayed],
    ["that one waits for pods to start", () => onPending("RestartJob")],
    ["what hinders the group", hindered],
  ];
  for (const [what, make] of rows)
    test(what, () => {
      const loop = make();
      loop.step(true);
      assert.equal(loop.memory?.untold?.length, 1);
      assert.equal(often(loop), 1);
      assert.equal(loop.memory?.untold, undefined);
    });

  test("that an action waits, also when it is due by then", () => {
    const loop = delayed();
    loop.step(true);
    loop.turn(600_000);
    assert.deepEqual(heard(loop), [
      "Normal ExecuteAction: Execute action AbortJob after 10m0s",
      "Normal ExecuteAction: Start to execute action AbortJob (PodFailed of pod w-0)",
    ]);
  });

  test("an action, also when the next leaves the phase that it was taken in", () => {
    const loop = running({ ...onFailure("RestartPod"), maxRetry: 9 });
    loop.lingering = true;
    loop.fail("j-w-0", 1);
    loop.run();
    loop.fail("j-w-1", 2);
    loop.step(true);
    loop.release();
    loop.remove("pods", "j-w-1");
    assert.deepEqual(heard(loop), [
      "Normal ExecuteAction: Start to execute action RestartPod (PodFailed of pod w-1 (exit code 2))",
    ]);
  });

  const comers = [
    ["an action of the job that waits already is not announced again for a pod that comes later", "RestartJob", 0],
    ["one that waits for each pod is", "RestartPod", 1],
  ] as const;
  for (const [what, action, times] of comers)
    test(what, () => {
      const loop = onPending(action);
      loop.run();
      loop.turn(2_000);
      loop.remove("pods", "j-w-1");
      assert.equal(often(loop), times);
    });
});

test("all kinds tell in the name of upstream's controller", () => {
  const kinds = [volcanoJob, volcanoQueue(), volcanoCronJob({ settledMs: 0 }), volcanoJobFlow({ settledMs: 0 })];
  assert.deepEqual(
    kinds.map(({ component }) => component),
    kinds.map(() => "vc-controller-manager"),
  );
});

test("flags of plugins that are unknown stand in the message without their value, are told once, and stop nothing", () => {
  const loop = new Loop({ tasks: [task("w", 1)], plugins: { ssh: ["--ssh-privat-key=MIIEsecret"] } });
  const told = () =>
    loop
      .step()
      .stages.flat()
      .flatMap((one) => (one.do === "record" ? [`${one.type} ${one.reason} ${one.message}`] : []));
  const saying = "spec.plugins.ssh: flag --ssh-privat-key is unknown";
  const first = told();
  assert.deepEqual([first.length, told(), told()], [1, [], []]);
  assert.ok(first[0]?.startsWith(`Warning PluginFlagIgnored ${saying}`), first[0]);
  const { reason, message = "" } = Object(loop.status().state);
  assert.deepEqual([reason, String(message).startsWith(saying)], ["PluginFlagIgnored", true]);
  assert.equal(loop.running().names("pods").length, 1);
  assert.doesNotMatch(JSON.stringify([first, loop.status(), loop.memory]), /MIIEsecret/);
});
