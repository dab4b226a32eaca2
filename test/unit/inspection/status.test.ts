/** list, status, plan, pause: they read only objects, checkpoints and pods, and need neither host nor queue. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "yaml";
import type { Obj } from "../../../shared/core/object.ts";
import { application, make, openTerminal } from "../cli/terminal.ts";
import { checkpoint, driver, running, start } from "./objects.ts";

const waiting = (reason: string, message: string) => ({
  phase: "Pending",
  containerStatuses: [{ name: "spark-kubernetes-driver", state: { waiting: { reason, message } } }],
});

const submitted = { ...running, applicationState: { state: "SUBMITTED" } };
const failed = {
  applicationState: { state: "FAILED", errorMessage: "driver container failed with ExitCode: 3, Reason: Error" },
  terminationTime: "2026-11-02T07:59:00Z",
};

type Case = { readonly name: string; readonly objects: readonly Obj[]; readonly lines: readonly RegExp[] };

const cases: readonly Case[] = [
  {
    name: "new, and nobody has looked at it",
    objects: [application("app")],
    lines: [/^waits for {2}a host to look at it$/, /^since {6}2026-11-02T08:00:00Z \(0s ago\)$/, /^do .*rekindle host/],
  },
  {
    name: "running, with a timer",
    objects: [
      application("app", running),
      checkpoint("app", { waitsFor: "the driver to finish", wakeAt: start + 90_000 }),
    ],
    lines: [
      /^waits for {2}the driver to finish$/,
      /07:58:00Z \(2m ago\), until 2026-11-02T08:01:30Z \(in 1m30s\)$/,
      /nothing/,
    ],
  },
  {
    name: "running, and nobody keeps a record",
    objects: [application("app", running)],
    lines: [
      /^waits for {2}the driver to finish$/,
      /07:58:00Z/,
      /keeps no record of it \(there is none\): another controller/,
    ],
  },
  {
    name: "failed",
    objects: [application("app", failed), driver("app", { phase: "Failed" })],
    lines: [
      /^waits for {2}nothing: it has failed: driver container failed with ExitCode: 3/,
      /07:59:00Z/,
      /kubectl logs -n default app-driver$/,
    ],
  },
  {
    name: "an image that cannot be pulled",
    objects: [application("app", submitted), driver("app", waiting("ImagePullBackOff", "no such image"))],
    lines: [
      /^waits for {2}pod app-driver: ImagePullBackOff: no such image$/,
      /since/,
      /kubectl describe pod -n default app-driver$/,
    ],
  },
  {
    name: "the platform is in the way",
    objects: [
      application("app", submitted),
      checkpoint("app", { trouble: { reason: "Forbidden", message: "exceeded quota", since: start - 5_000 } }),
    ],
    lines: [/the platform \(Forbidden\): exceeded quota$/, /5s ago/, /keeps trying/],
  },
  {
    name: "paused",
    objects: [
      {
        ...application("app"),
        metadata: { name: "app", namespace: "default", annotations: { "rekindle.dev/paused": "true" } },
      },
    ],
    lines: [/a user to resume it/, /since/, /rekindle resume default\/app$/],
  },
  {
    name: "a timer that nobody heard",
    objects: [application("app", running), checkpoint("app", { waitsFor: "its retry", wakeAt: start - 3_600_000 })],
    lines: [/^waits for {2}its retry$/, /until 2026-11-02T07:00:00Z \(1h ago\)$/, /is a host running\?/],
  },
];

describe("rekindle status", () => {
  for (const { name, objects, lines } of cases) {
    test(`prints the state and three lines: ${name}`, async () => {
      const terminal = openTerminal();
      await make(terminal.simulator, ...objects);
      const { code, out, err } = await terminal.run("status", "default/app");
      assert.equal(code, 0, err);
      const [state, ...told] = out.split("\n");
      assert.match(state ?? "", /^state {6}[A-Z]+$/);
      assert.equal(told.length, 3, out);
      for (const [index, line] of lines.entries()) assert.match(told[index] ?? "", line);
    });
  }

  test("accepts every way to name an application", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, application("app"));
    for (const args of [
      ["app"],
      ["default/app"],
      ["sparkapp/default/app"],
      ["SparkApplication/app"],
      ["app", "-n", "default"],
    ]) {
      assert.equal((await terminal.run("status", ...args)).code, 0, args.join(" "));
    }
  });

  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ["default/none"],
      /^rekindle: there is no application of any kind default\/none; see them all with: rekindle list$/,
    ],
    [["a/b/c/d"], /^rekindle: "a\/b\/c\/d": write NAME, NAMESPACE\/NAME or KIND\/NAMESPACE\/NAME$/],
    [
      ["Deployment/default/x"],
      /^rekindle: Deployment is not a kind that Rekindle runs \(SparkApplication, ScheduledSparkApplication, SparkConnect, ApacheSparkApplication, SparkCluster, Job, CronJob, JobFlow\)$/,
    ],
    [["../x"], /is not a name|there is no/],
  ];
  for (const [args, line] of wrong) {
    test(`prints one line: status ${args.join(" ")}`, async () => {
      const { code, err } = await openTerminal().run("status", ...args);
      assert.equal(code, 1);
      assert.match(err, line);
    });
  }
});

describe("rekindle list", () => {
  test("prints every application with its state and what it waits for", async () => {
    const terminal = openTerminal();
    const objects = [application("a", running), application("b", failed), application("c")];
    await make(terminal.simulator, ...objects, checkpoint("a", { waitsFor: "the driver to finish" }));
    const { out } = await terminal.run("list");
    const [head = "", ...rows] = out.split("\n");
    assert.match(head, /^NAMESPACE +NAME +STATE +ATTEMPTS +AGE +WAITS FOR, OR WHY IT ENDED$/);
    assert.deepEqual(
      rows.map((row) => row.split(/ {3,}/)),
      [
        ["default", "a", "RUNNING", "0", "0s", "the driver to finish"],
        ["default", "b", "FAILED", "0", "0s", failed.applicationState.errorMessage],
        ["default", "c", "NEW", "0", "0s", "a host to look at it"],
      ],
    );
    const parsed: unknown = JSON.parse((await terminal.run("list", "-n", "default", "-o", "json")).out);
    assert.ok(Array.isArray(parsed) && parsed.length === 3);
  });

  test("prints that there are none", async () => {
    assert.equal((await openTerminal().run("ls")).out, "no applications");
  });
});

describe("the wait and the advice of rekindle status", () => {
  type Fields = Readonly<Record<string, unknown>>;
  const named = async (status: Fields | undefined, record: Fields): Promise<string> => {
    const terminal = openTerminal();
    await make(terminal.simulator, application("app", status), checkpoint("app", record));
    return (await terminal.run("status", "app")).out;
  };

  test("come from the record where the status shows nothing yet: a host has looked at the object", async () => {
    const waitsFor =
      "the driver pod app-driver of the earlier application to end (Terminating since 2026-11-02T08:00:00Z)";
    const out = await named(undefined, { waitsFor });
    assert.ok(out.includes(waitsFor), out);
    assert.match(out, /nothing: it continues by itself/);
    assert.doesNotMatch(out, /no host is running/);
  });

  test("say a message once", async () => {
    const held = { applicationState: { state: "SUBMITTED", errorMessage: "exceeded quota: small" } };
    const out = await named(held, { waitsFor: "the quota to have room: exceeded quota: small" });
    assert.equal(out.split("exceeded quota: small").length, 2, out);
  });
});

describe("rekindle plan", () => {
  test("prints the next step first, then view and timers, and the record with readable instants", async () => {
    const terminal = openTerminal({
      preview: async () => ({
        would: "plan",
        stages: [[{ do: "delete", ref: { resource: pods, namespace: "default", name: "app-driver" }, uid: "u1" }]],
        status: { applicationState: { state: "FAILING" } },
        memory: {},
        waitsFor: "its pods to end",
        wakeAt: start + 10_000,
        again: false,
      }),
    });
    await make(
      terminal.simulator,
      application("app", running),
      driver("app", { phase: "Running" }),
      checkpoint("app", {
        wakeAt: start + 5_000,
        memory: { attempt: 1, heap: 1_795_876_366, driver: { submittedAt: start } },
        timeline: { saves: [start / 1_000], waits: [["a pod", start / 1_000, start / 1_000 + 60]] },
      }),
    );
    const short = (await terminal.run("plan", "app")).out;
    assert.match(short, /^next step\n {2}stage 1/);
    assert.match(short, /\nrecord\n {2}saved 3 times; all of it: -o wide$/);
    const { out, code } = await terminal.run("plan", "sparkapp/app", "-o", "wide");
    assert.equal(out.indexOf("next step"), 0);
    for (const part of ["submittedAt: 2026-11-02T08:00:00Z", "heap: 1795876366", "- 2026-11-02T08:01:00Z"])
      assert.ok(out.replaceAll('"', "").includes(part), `${part} in ${out}`);
    assert.equal(code, 0);
    for (const part of [
      "view",
      "pod app-driver: Running",
      "record",
      "attempt: 1",
      "timers",
      "(in 5s)",
      "next step",
      "stage 1: delete pods default/app-driver (uid u1)",
      "waits for its pods to end",
      "state: FAILING",
    ]) {
      assert.ok(out.includes(part), `${part} in ${out}`);
    }
  });
});

describe("rekindle status of an application that grows under Kueue", () => {
  test("tells the hours of executors that were granted, used and waited for, as text and as data", async () => {
    const terminal = openTerminal();
    const memory = {
      ...{ attempt: 1, driver: { attempt: 1, submittedAt: 0 }, executors: { attempt: 1, ran: [3_600, 0] } },
      allotment: { attempt: 1, quota: [start - 3_600_000, 2, 1, -1, 0, 0] },
      state: { phase: "RUNNING" },
    };
    await make(terminal.simulator, application("app", running), checkpoint("app", { memory }));
    const { out } = await terminal.run("status", "app");
    assert.match(out, /^quota {6}2\.000 executor-h granted by Kueue, at least 1\.000 used, 1\.000 waited for$/m);
    const { quota } = parse((await terminal.run("status", "app", "-o", "json")).out);
    assert.deepEqual(quota, { granted: 2, used: 1, waited: 1, isWhole: false });
  });
});

const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" } as const;

describe("rekindle pause", () => {
  test("sets the annotation, and resume removes it", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, application("app"));
    assert.match((await terminal.run("pause", "default/app")).out, /^default\/app is paused/);
    assert.match((await terminal.run("list")).out, /\(paused\)/);
    assert.match((await terminal.run("resume", "default/app")).out, /continues$/);
    assert.doesNotMatch((await terminal.run("list")).out, /\(paused\)/);
    const { code, err } = await terminal.run("pause", "default/none");
    assert.equal(code, 1);
    assert.equal(err, "rekindle: there is no application of any kind default/none; see them all with: rekindle list");
  });
});

test("the table of timeouts and policies is printed as text and as data", async () => {
  const terminal = openTerminal();
  const { out, code } = await terminal.run("annotations");
  assert.match(
    out,
    /^KIND +ANNOTATION +DEFAULT +RANGE +MEANING\nSparkApplication +rekindle.dev\/driver-start-timeout +off +10s to 1d /,
  );
  const rows = JSON.parse((await terminal.run("annotations", "-o", "json")).out);
  assert.deepEqual(parse((await terminal.run("annotations", "-o", "yaml")).out), rows);
  assert.deepEqual(
    [code, rows.length, Object.keys(rows[0])],
    [0, 29, ["kind", "annotation", "default", "range", "meaning"]],
  );
});

test("rekindle status prints an application's latest history before its three lines", async () => {
  const terminal = openTerminal();
  const passage = (phase: string, at: number) => ({ phase, attempt: 1, at: start - 60_000 + at * 5_000 });
  make(terminal.simulator, application("app", running));
  make(terminal.simulator, checkpoint("app", { memory: { history: ["SUBMITTED", "RUNNING"].map(passage) } }));
  const [went, state, waits] = (await terminal.run("status", "app", "-n", "default")).out.split("\n");
  assert.equal(went, "went       SUBMITTED 07:59:00 → RUNNING 07:59:05");
  assert.equal(state, "state      RUNNING");
  assert.match(waits ?? "", /^waits for/);
});

test("rekindle status prints the last answer of a run's driver that its record keeps", async () => {
  const terminal = openTerminal();
  const words = { executors: 2, running: 1, failed: 3, shuffle: 5_242_880, heap: 104_857_600 };
  const care = { pulse: { at: start - 9_000, tasks: 40, movedAt: start - 9_000, words } };
  make(terminal.simulator, application("app", running));
  make(terminal.simulator, checkpoint("app", { memory: { executors: { attempt: 1, care } } }));
  const lines = (await terminal.run("status", "app", "-n", "default")).out.split("\n");
  assert.equal(
    lines.find((line) => line.startsWith("driver")),
    "driver     07:59:51: 2 executors; 1 task running, 40 ended, 3 failed; 5 MiB of shuffle data written; largest heap 100 MiB",
  );
  const told = JSON.parse((await terminal.run("status", "app", "-n", "default", "-o", "json")).out);
  assert.deepEqual(told.driver, { ...words, ended: 40, at: "2026-11-02T07:59:51Z", attempt: 1 });
});

test("rekindle status prints a run's losses in one line, and each loss as data", async () => {
  const terminal = openTerminal();
  const loss = {
    id: 5,
    uid: "u5",
    pod: "app-exec-5",
    reason: "memory",
    exitCode: 137,
    node: "node-2",
    at: start - 9_000,
  };
  const executors = { attempt: 1, lost: { killed: 2, memory: 1 }, losses: [loss] };
  make(terminal.simulator, application("app", running));
  make(terminal.simulator, checkpoint("app", { memory: { executors } }));
  const [lost] = (await terminal.run("status", "app", "-n", "default")).out.split("\n");
  assert.equal(lost, "lost       2 killed, 1 memory; the last: executor 5 memory (exit 137; node-2) 07:59:51");
  const told = JSON.parse((await terminal.run("status", "app", "-n", "default", "-o", "json")).out);
  assert.deepEqual(told.executors, {
    lost: executors.lost,
    losses: [{ ...loss, at: "2026-11-02T07:59:51Z" }],
  });
});

test("rekindle status prints past waits with their reasons and times, and all waits and saves as data", async () => {
  const terminal = openTerminal();
  const second = (at: number): number => start / 1_000 - 600 + at;
  const timeline = {
    waits: [
      ["the driver to start", second(0), second(10)],
      ["the platform (Forbidden): no right to create pods", second(10), second(70)],
      ["the driver to finish", second(70), second(100)],
      ["its next try after: exit 3", second(100), second(280)],
    ],
    waiting: ["the driver to finish", second(280)],
    saves: [second(0), second(280)],
  };
  make(terminal.simulator, application("app", running));
  make(terminal.simulator, checkpoint("app", { waitsFor: "the driver to finish", timeline }));
  const [waited, state] = (await terminal.run("status", "app", "-n", "default")).out.split("\n");
  assert.equal(
    waited,
    "waited     for the platform (Forbidden): no right to create pods: 07:50:10 to 07:51:10 (1m); for its next try after: exit 3: 07:51:40 to 07:54:40 (3m)",
  );
  assert.equal(state, "state      RUNNING");
  const told = JSON.parse((await terminal.run("status", "app", "-n", "default", "-o", "json")).out);
  assert.deepEqual(told.saves, ["2026-11-02T07:50:00Z", "2026-11-02T07:54:40Z"]);
  assert.deepEqual(told.waits.slice(-2), [
    { for: "its next try after: exit 3", from: "2026-11-02T07:51:40Z", to: "2026-11-02T07:54:40Z", isUsual: false },
    { for: "the driver to finish", from: "2026-11-02T07:54:40Z", isUsual: true },
  ]);
});

test("rekindle status reads records without a timeline, with a damaged one, and with past runs of no account", async () => {
  const runs = [{ attempt: 1, outcome: "failed", endedAt: start - 9_000 }];
  for (const more of [{}, { timeline: { waits: [["a", "b"]], saves: "x" } }, { timeline: { saves: [9e15] } }]) {
    const terminal = openTerminal();
    make(terminal.simulator, application("app", running));
    make(terminal.simulator, checkpoint("app", { waitsFor: "the driver to finish", runs, ...more }));
    const { out } = await terminal.run("status", "app", "-n", "default");
    assert.match(out, /^attempts {3}1 failed\nstate {6}RUNNING\nwaits for {2}the driver to finish\n/);
  }
});
