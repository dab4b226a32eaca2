/** Names on the command line: all kinds are searched, near names are suggested, and logs of a job's pods are found. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { application, make, openTerminal, type Terminal } from "../cli/terminal.ts";

const task = (name: string, replicas: number) => ({
  name,
  replicas,
  template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } },
});

const job = (name: string, more: Partial<Obj["metadata"]> = {}): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default", ...more },
  spec: { minAvailable: 1, tasks: [task("master", 1), task("worker", 2)] },
  status: { state: { phase: "Running" } },
});

const cron = (name: string): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "CronJob",
  metadata: { name, namespace: "default" },
  spec: { schedule: "0 3 * * *", jobTemplate: { spec: {} } },
});

const pod = (of: string, taskName: string, index: number): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: `${of}-${taskName}-${index}`,
    namespace: "default",
    labels: {
      "volcano.sh/job-name": of,
      "volcano.sh/task-spec": taskName,
      "volcano.sh/task-index": `${index}`,
    },
    ownerReferences: [{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: of, uid: "", controller: true }],
  },
  spec: { containers: [{ name: "c", image: "i" }] },
  status: { phase: "Running" },
});

const withObjects = async (...objects: readonly Obj[]): Promise<Terminal> => {
  const terminal = openTerminal();
  await make(terminal.simulator, ...objects);
  return terminal;
};

const pair: readonly Obj[] = [
  job("pair"),
  pod("pair", "master", 0),
  pod("pair", "worker", 0),
  pod("pair", "worker", 1),
];

describe("a name with its kind", () => {
  const forms = [
    "job/pair",
    "JOB/default/pair",
    "vj/pair",
    "job.batch.volcano.sh/pair",
    "Jobs.Batch.Volcano.sh/default/pair",
    "job.v1alpha1.batch.volcano.sh/pair",
  ];
  const commands: readonly (readonly string[])[] = [
    ["status"],
    ["event"],
    ["plan"],
    ["pause"],
    ["recover", "--dry-run"],
    ["job", "view"],
    ["delete"],
  ];
  for (const command of commands)
    test(`is taken in every form by ${command.join(" ")}`, async () => {
      for (const name of forms) {
        const terminal = await withObjects(...pair);
        const { code, err } = await terminal.run(...command, name);
        assert.ok(code === 0, `${name}: ${err}`);
      }
    });

  test("is what list -o name and -o key print", async () => {
    const terminal = await withObjects(...pair, application("app"));
    for (const form of ["name", "key"])
      for (const name of (await terminal.run("list", "-o", form)).out.split("\n"))
        assert.equal((await terminal.run("status", name, "-o", "name")).code, 0, name);
  });

  test("is taken for queues, flows and templates, too", async () => {
    const flow = { apiVersion: "flow.volcano.sh/v1alpha1", metadata: { name: "f", namespace: "default" } };
    const terminal = await withObjects(
      { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name: "q" }, spec: { weight: 1 } },
      { ...flow, kind: "JobFlow", spec: { flows: [], jobRetainPolicy: "retain" } },
    );
    for (const words of [
      ["queue", "get", "queue.scheduling.volcano.sh/q"],
      ["queue", "get", "q/q"],
      ["recover", "--dry-run", "queues.scheduling.volcano.sh/q"],
      ["jobflow", "get", "jobflow.flow.volcano.sh/f"],
      ["jobflow", "get", "default/f"],
      ["status", "JF/f"],
    ])
      assert.equal((await terminal.run(...words)).code, 0, words.join(" "));
  });

  test("is refused where it names another kind or another namespace", async () => {
    const terminal = await withObjects(...pair);
    assert.match((await terminal.run("job", "view", "cronjob/default/pair")).err, /name a Job$/);
    assert.match((await terminal.run("queue", "get", "job/pair")).err, /name a Queue$/);
    assert.match((await terminal.run("status", "job/default/pair", "-n", "other")).err, /name different namespaces/);
    assert.match((await terminal.run("status", "job.batch/pair")).err, /job\.batch is not a kind that Rekindle runs/);
  });
});

describe("a name without a kind", () => {
  test("is that of the only object with it, whatever its kind, which is printed", async () => {
    const terminal = await withObjects(...pair, cron("nightly"));
    for (const [name, found] of [
      ["pair", "job/default/pair"],
      ["default/nightly", "cronjob/default/nightly"],
    ] as const) {
      const { code, out, err } = await terminal.run("status", name);
      assert.equal(code, 0, err);
      assert.equal(out.split("\n")[0], `found      ${found}`);
    }
    assert.match((await terminal.run("status", "job/pair")).out, /^state /);
  });

  test("is that of a SparkApplication if there is one", async () => {
    const { out } = await (await withObjects(job("pair"), application("pair"))).run("status", "pair");
    assert.match(out, /^state {6}NEW/);
  });

  test("is refused if several other kinds have it", async () => {
    const terminal = await withObjects(job("pair"), cron("pair"));
    const { code, err } = await terminal.run("delete", "pair");
    assert.equal(code, 1);
    assert.match(err, /several have this name: write job\/default\/pair or cronjob\/default\/pair$/);
    assert.equal((await terminal.run("status", "job/pair")).code, 0);
  });

  const rows: readonly (readonly [what: string, args: readonly string[], says: RegExp])[] = [
    [
      "near ones are offered",
      ["status", "pari"],
      /there is no application of any kind default\/pari; did you mean job\/default\/pair\?$/,
    ],
    [
      "near ones of a kind are offered",
      ["status", "job/pari"],
      /there is no Job default\/pari; did you mean job\/default\/pair\?$/,
    ],
    [
      "the same name elsewhere is offered",
      ["log", "other/pair"],
      /there is no application of any kind other\/pair; did you mean job\/default\/pair\?$/,
    ],
    [
      "a misspelt kind is no namespace",
      ["status", "SparkAplication/pair"],
      /SparkAplication is not a kind that Rekindle runs \(.*\); did you mean SparkApplication\?$/,
    ],
    [
      "so is one without capitals",
      ["status", "sparkaplication/x"],
      /there is no application of any kind sparkaplication\/x; .*; did you mean SparkApplication\?$/,
    ],
    ["a misspelt kind of three parts", ["plan", "jbo/default/pair"], /jbo is not a kind that Rekindle runs/],
    [
      "nothing is near",
      ["pause", "zebra"],
      /there is no application of any kind default\/zebra; see them all with: rekindle list$/,
    ],
  ];
  for (const [what, args, says] of rows)
    test(what, async () => {
      const { code, err } = await (await withObjects(...pair)).run(...args);
      assert.deepEqual([code, err.split("\n").length], [1, 1], err);
      assert.match(err, says);
    });
});

describe("rekindle log of a job", () => {
  const lines = async (...args: readonly string[]) => await (await withObjects(...pair)).run("log", ...args);

  test("with several pods lists them, and prints how to name one", async () => {
    const { code, out, err } = await lines("job/pair");
    assert.equal(code, 0, err);
    assert.deepEqual(
      out.split("\n").map((line) => line.split(/ {2,}/)),
      [
        ["POD", "TASK", "INDEX", "PHASE"],
        ["pair-master-0", "master", "0", "Running"],
        ["pair-worker-0", "worker", "0", "Running"],
        ["pair-worker-1", "worker", "1", "Running"],
      ],
    );
    assert.match(err, /rekindle log job\/default\/pair --pod NAME, or --task TASK --index N/);
  });

  /** The simulator's kubelet keeps no log of such pods, so the test checks which pod's log was requested. */
  const asked: readonly (readonly [args: readonly string[], pods: readonly string[]])[] = [
    [["pair", "--task", "master"], ["pair-master-0"]],
    [
      ["pair", "--task", "worker"],
      ["pair-worker-0", "pair-worker-1"],
    ],
    [["pair", "--task", "worker", "--index", "1"], ["pair-worker-1"]],
    [["job/pair", "--pod", "pair-worker-0"], ["pair-worker-0"]],
    [["job/pair", "--pod", "worker-0"], ["pair-worker-0"]],
  ];
  for (const [args, pods] of asked)
    test(`${args.join(" ")}: ${pods.join(", ")}`, async () => {
      const terminal = await withObjects(...pair);
      const { transport } = terminal.simulator;
      const read: string[] = [];
      const stream = transport.stream.bind(transport);
      transport.stream = async (request) => {
        read.push(/pods\/([^/]+)\/log/.exec(request.path)?.[1] ?? "");
        return { ...(await stream({ ...request, path: "/version" })), status: 200 };
      };
      const { code, err, out } = await terminal.run("log", ...args);
      assert.deepEqual([code, err, read], [0, "", pods]);
      assert.equal(out.includes("==> "), pods.length > 1);
    });

  const wrong: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [
      ["job/pair", "--task", "ps"],
      /default\/pair has no pod of task ps: there are pair-master-0, pair-worker-0, pair-worker-1$/,
    ],
    [["job/pair", "--pod", "x"], /default\/pair has no pod x: there are pair-master-0/],
    [["job/pair", "-e", "1"], /default\/pair has no executor 1: none is there$/],
    [["job/none"], /there is no Job default\/none; see them all/],
    [["-f", "job/pair"], /one pod is followed at a time$/],
  ];
  for (const [args, says] of wrong)
    test(`prints one line: ${args.join(" ")}`, async () => {
      const { code, err } = await lines(...args);
      assert.equal(code, 1);
      assert.match(err, says);
    });

  test("without pods prints what the job waits for, and of a CronJob names its jobs", async () => {
    const owner = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "CronJob", name: "nightly", uid: "" };
    const made = job("nightly-1", { ownerReferences: [owner] });
    const terminal = await withObjects(job("alone"), cron("nightly"), made);
    const alone = await terminal.run("log", "alone");
    assert.match(
      alone.err,
      /default\/alone has no pod \(Running\); see what it waits for: rekindle status job\/default\/alone$/,
    );
    for (const args of [["nightly"], ["-f", "nightly"]]) {
      const { code, err } = await terminal.run("log", ...args);
      assert.equal(code, 1);
      assert.match(err, /a CronJob has no pods of its own, its jobs have: log job\/default\/nightly-1$/);
    }
  });
});
