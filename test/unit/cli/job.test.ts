/** `rekindle job`: its writes and output, in the manner of vcctl. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { isRecord } from "../../../shared/core/json.ts";
import type { Obj } from "../../../shared/core/object.ts";

import { make, openTerminal, type Terminal } from "./terminal.ts";

const jobsPath = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
const commandsPath = "/apis/bus.volcano.sh/v1alpha1/namespaces/default/commands";

const template = { spec: { containers: [{ name: "main", image: "busybox" }] } };

const job = (name: string, phase: string, namespace = "default"): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace },
  spec: { minAvailable: 2, schedulerName: "volcano", tasks: [{ name: "w", replicas: 3, template }] },
  status: {
    state: { phase, lastTransitionTime: "2026-11-02T08:00:00Z" },
    ...{ minAvailable: 2, running: 2, pending: 1, retryCount: 1 },
    taskStatusCount: { w: { phase: { Running: 2, Pending: 1 } } },
    conditions: [{ status: phase, lastTransitionTime: "2026-11-02T08:00:00Z" }],
  },
});

const read = async ({ simulator }: Terminal, path: string): Promise<Readonly<Record<string, unknown>>> => {
  const found = await request(simulator.transport, "GET", path);
  return isRecord(found) ? found : {};
};

const commandsOf = async (terminal: Terminal): Promise<readonly unknown[]> => {
  const { items } = await read(terminal, commandsPath);
  return Array.isArray(items) ? items : [];
};

/** Returns the cells of a line; no cell has blanks. */
const cells = (line = ""): readonly string[] => line.trim().split(/\s+/);

describe("rekindle job run", () => {
  test("creates a job from its flags as vcctl does", async () => {
    const terminal = openTerminal();
    const flags = ["-i", "image:1", "-m", "2", "-r", "4", "-R", "cpu=500m", "-L", "cpu=1,memory=1Gi", "-S", "mine"];
    const { out, code } = await terminal.run("job", "run", "-N", "one", ...flags);
    assert.deepEqual([out, code], ["run job one successfully", 0]);
    const resources = { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "500m" } };
    const container = { name: "one", image: "image:1", imagePullPolicy: "IfNotPresent", resources };
    const { spec } = await read(terminal, `${jobsPath}/one`);
    assert.deepEqual(spec, {
      ...{ minAvailable: 2, schedulerName: "mine", maxRetry: 3, queue: "default" },
      tasks: [
        {
          replicas: 4,
          template: {
            metadata: { name: "one", labels: { "job.volcano.sh": "one" } },
            spec: { restartPolicy: "Never", containers: [container] },
          },
        },
      ],
    });
  });

  test("prints the name that the server gave", async () => {
    const { name: _, ...metadata } = job("x", "").metadata;
    const drawn = { ...job("x", ""), metadata: { ...metadata, generateName: "bwa-mem-" } };
    const { out } = await openTerminal({ stdin: JSON.stringify(drawn) }).run("job", "run", "-f", "-");
    assert.match(out, /^run job bwa-mem-[a-z0-9]{5} successfully$/);
  });

  test("takes jobs from a file, and no other kind", async () => {
    const terminal = openTerminal({ stdin: JSON.stringify(job("filed", "")) });
    assert.equal((await terminal.run("job", "run", "-f", "-")).out, "run job filed successfully");
    const queue = { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name: "q" } };
    const { err } = await openTerminal({ stdin: JSON.stringify(queue) }).run("job", "run", "-f", "-");
    assert.match(err, /standard input: is a Queue of .* and not a Job of .*kubectl apply/);
  });

  const refusals: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /name one job: rekindle job run NAME, or -N NAME$/],
    [["a", "-N", "b"], /name one job/],
    [["a", "-R", "cpu"], /--requests "cpu": write RESOURCE=AMOUNT/],
    [["a", "-L", "cpu=lots"], /--limits "cpu=lots": "lots" is not an amount/],
    [["a", "-r", "-1"], /"-1": write a whole number from 0 up/],
  ];
  for (const [args, line] of refusals)
    test(`refuses in one line: job run ${args.join(" ")}`, async () => {
      const { code, err } = await openTerminal().run("job", "run", ...args);
      assert.equal(code, 1);
      assert.match(err, line);
    });
});

describe("rekindle job list", () => {
  const several = async (): Promise<Terminal> => {
    const terminal = openTerminal();
    await make(terminal.simulator, { apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } });
    await make(terminal.simulator, job("aa", "Running"), job("bb", "Completed"), job("cc", "Pending", "other"));
    return terminal;
  };

  test("prints vcctl's columns", async () => {
    const [head, first, ...more] = (await (await several()).run("job", "list")).out.split("\n");
    const heads = "Name Creation Phase JobType Replicas Min Pending Running Succeeded Failed Unknown RetryCount";
    assert.deepEqual(cells(head), heads.split(" "));
    const [name, created, ...rest] = cells(first);
    assert.match(created ?? "", /^\d{4}-\d\d-\d\d$/);
    assert.deepEqual([name, ...rest], "aa Running Batch 3 2 1 2 0 0 0 1".split(" "));
    assert.equal(more.length, 1);
  });

  const rows: readonly (readonly [readonly string[], string])[] = [
    [["-A", "-o", "key"], "aa\nbb\ncc"],
    [["--selector", "b", "-o", "key"], "bb"],
    [["-S", "mine", "-o", "key"], ""],
    [["-n", "other", "-o", "name"], "job.batch.volcano.sh/cc"],
    [["-S", "mine"], "No resources found"],
  ];
  for (const [args, wanted] of rows)
    test(`job list ${args.join(" ")}`, async () => {
      assert.equal((await (await several()).run("job", "list", ...args)).out, wanted);
    });

  test("prints JSON or YAML, with namespaces if there are several", async () => {
    const terminal = await several();
    assert.equal(JSON.parse((await terminal.run("job", "list", "-o", "json")).out).length, 2);
    const written: readonly unknown[] = parse((await terminal.run("job", "list", "-o", "yaml")).out);
    assert.deepEqual(
      written.map((job) => Object(job).apiVersion),
      ["batch.volcano.sh/v1alpha1", "batch.volcano.sh/v1alpha1"],
    );
    assert.match((await terminal.run("job", "list", "-A")).out, /^Namespace +Name/);
  });
});

describe("rekindle job view", () => {
  test("prints the job's requests, the state of its pods, what Rekindle waits for, and its Events", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, job("aa", "Running"));
    await make(terminal.simulator, {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "aa.1", namespace: "default" },
      involvedObject: { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "aa", namespace: "default" },
      ...{ type: "Normal", reason: "ExecuteAction", message: "Start to execute action RestartJob" },
      ...{ firstTimestamp: "2026-11-02T08:00:00Z", lastTimestamp: "2026-11-02T08:00:00Z" },
    });
    const { out } = await terminal.run("job", "view", "aa");
    for (const line of [
      /^Name: aa$/m,
      /^ {2}Scheduler Name: volcano$/m,
      /^ {4}w +3 +3 +2 Running, 1 Pending +main=busybox$/m,
      /^ {2}Running: 2$/m,
      /^ {2}Phase: Running$/m,
      /^ {4}Running +2026-11-02T08:00:00Z /m,
      /^ {2}Normal +ExecuteAction +\S+ +Start to execute action RestartJob$/m,
    ])
      assert.match(out, line);
    assert.equal(JSON.parse((await terminal.run("job", "view", "aa", "-o", "json")).out).kind, "Job");
  });

  test("of a missing job names the command that lists all", async () => {
    const { code, err } = await openTerminal().run("job", "view", "-N", "none");
    assert.deepEqual(
      [code, /there is no job default\/none; see them all with: rekindle job list/.test(err)],
      [1, true],
    );
  });
});

describe("rekindle job suspend, resume and delete", () => {
  for (const [command, action] of [
    ["suspend", "AbortJob"],
    ["resume", "ResumeJob"],
  ] as const)
    test(`${command} creates the same Command as vcctl: ${action}`, async () => {
      const terminal = openTerminal();
      await make(terminal.simulator, job("aa", "Running"));
      assert.match(
        (await terminal.run("job", command, "-N", "aa", "-n", "default")).out,
        /sent (AbortJob|ResumeJob) to job default\/aa/,
      );
      const [found] = await commandsOf(terminal);
      const written = Object(found);
      const { metadata } = await read(terminal, `${jobsPath}/aa`);
      const { uid } = Object(metadata);
      const owner = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "aa", uid };
      const target = { ...owner, controller: true, blockOwnerDeletion: true };
      assert.deepEqual([written.action, written.target], [action, target]);
      assert.deepEqual(written.metadata.ownerReferences, [target]);
      assert.match(written.metadata.name, new RegExp(`^aa-${action.toLowerCase()}-.+`));
    });

  test("refuse to suspend or resume a job that has ended", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, job("aa", "Failed"));
    assert.match((await terminal.run("job", "resume", "aa")).err, /has ended \(Failed\): there is nothing to resume/);
    assert.deepEqual(await commandsOf(terminal), []);
  });

  test("delete removes the job, and prints vcctl's line", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, job("aa", "Running"));
    assert.equal((await terminal.run("job", "delete", "-N", "aa")).out, "delete job aa successfully");
    assert.equal((await terminal.run("job", "list")).out, "No resources found");
  });

  test("refuse an unknown command below job", async () => {
    const { code, err } = await openTerminal().run("job", "lst");
    assert.deepEqual([code, /--help lists the options/.test(err)], [2, true]);
  });
});
