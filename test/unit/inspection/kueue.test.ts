/** Lines of `rekindle status` about Kueue: the LocalQueue, whether Kueue holds the object, since when, and Kueue's words. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../shared/core/http.ts";
import type { Stored } from "../../../shared/core/object.ts";
import { everyKind } from "../../../shared/inspection/kinds/all.ts";
import type { Kind } from "../../../shared/inspection/kinds/kind.ts";
import { growthSumsIn, kueueOf, kueueText } from "../../../shared/inspection/kueue.ts";
import { openSimulator } from "../../../shared/simulator/open.ts";
import { kueueCrds } from "../../support/kueue.ts";
import { application, make, openTerminal } from "../cli/terminal.ts";

const named = (name: string): Kind => {
  const found = everyKind.find(({ resource }) => resource.kind === name);
  assert.ok(found !== undefined);
  return found;
};

const sparkApplication = named("SparkApplication");
const scheduledSparkApplication = named("ScheduledSparkApplication");
const volcanoJob = named("Job");

const start = Date.parse("2026-11-02T08:00:00Z");
const label = { "kueue.x-k8s.io/queue-name": "team-a" };
const uid = "6d1b6c1e-0000-4000-8000-000000000001";

const objectOf = ({ resource: { group, version, kind } }: Kind, labels: Record<string, string> = label): Stored => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name: "train", namespace: "default", uid, resourceVersion: "1", labels },
});

const condition = (type: string, status: string, reason: string, message: string, minute: string) => ({
  ...{ type, status, reason, message },
  lastTransitionTime: `2026-11-02T08:${minute}:00Z`,
});

const held = condition("QuotaReserved", "False", "Pending", "insufficient unused quota for cpu, 4 more needed", "05");
const has = condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue all", "10");
const admitted = condition("Admitted", "True", "Admitted", "The workload is admitted", "11");
const evicted = condition("Evicted", "True", "Preempted", "Preempted to accommodate a workload", "20");
const checks = [
  { name: "capacity", state: "Pending", message: "no nodes yet" },
  { name: "budget", state: "Ready", message: "fine" },
];

/** Reads the view of an object beside a Workload with this status and spec. */
const viewOf = async (status: object, spec: object = {}, kind: Kind = sparkApplication, owner = uid) => {
  const { transport } = openSimulator({ start, crds: kueueCrds });
  const path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
  const { apiVersion, metadata, ...object } = objectOf(kind);
  await request(transport, "POST", path, {
    ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload" },
    metadata: {
      name: "w",
      labels: { "kueue.x-k8s.io/job-uid": uid },
      ownerReferences: [{ apiVersion, kind: object.kind, name: metadata.name, uid: owner, controller: true }],
    },
    spec: { podSets: [{ name: "main", count: 1, template: {} }], ...spec },
  });
  await request(transport, "PUT", `${path}/w/status`, { ...(await request(transport, "GET", `${path}/w`)), status });
  return await kueueOf(transport, kind, objectOf(kind));
};

const rows = [
  ["no condition yet", {}, {}, "held since 08:00:00"],
  ["no quota", { conditions: [held] }, {}, "held since 08:05:00: insufficient unused quota for cpu, 4 more needed"],
  [
    "open admission checks",
    { conditions: [has], admissionChecks: checks },
    {},
    "held since 08:10:00: admission check capacity is Pending: no nodes yet",
  ],
  ["admission", { conditions: [has, admitted] }, {}, "admitted since 08:11:00: The workload is admitted"],
  [
    "an eviction",
    { conditions: [has, admitted, evicted] },
    {},
    "evicted, waits to be admitted again since 08:20:00: Preempted: Preempted to accommodate a workload",
  ],
  [
    "an eviction whose quota is given back",
    { conditions: [held, evicted] },
    {},
    "evicted, waits to be admitted again since 08:20:00: Preempted: Preempted to accommodate a workload; insufficient unused quota for cpu, 4 more needed",
  ],
  ["a deactivation", { conditions: [held] }, { active: false }, "held since 08:00:00: its Workload is deactivated"],
  [
    "an end",
    { conditions: [has, admitted, condition("Finished", "True", "Succeeded", "Job finished", "30")] },
    {},
    "finished since 08:30:00: Job finished",
  ],
] as const;

describe("an object in a queue of Kueue", () => {
  for (const [what, status, spec, said] of rows)
    test(`whose Workload shows ${what} says so, with the time and Kueue's words`, async () => {
      const view = await viewOf(status, spec);
      assert.ok(view !== undefined);
      const text = kueueText(view, (at) => new Date(at).toISOString().slice(11, 19));
      assert.equal(text, `LocalQueue team-a: ${said}`);
    });

  const growth = (name: string, count: number, status: object): object => {
    const workload = { apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload" };
    return {
      ...workload,
      metadata: {
        ...{ name, labels: { "app.kubernetes.io/managed-by": "rekindle", "rekindle.dev/app-uid": uid } },
        ownerReferences: [{ ...workload, name: "sparkapplication-train-1a2b3", uid: "own" }],
      },
      spec: { podSets: [{ name: "executor", count, template: {} }] },
      status,
    };
  };

  const assigned = (count: number) => ({ podSetAssignments: [{ name: "executor", count, flavors: { cpu: "spot" } }] });

  /** A cluster with growths in each state. */
  const growing = async (): Promise<Transport> => {
    const { transport } = openSimulator({ start, crds: kueueCrds });
    const path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
    const made = [
      growth("train-grow-1", 8, { conditions: [has, admitted], admission: assigned(8) }),
      growth("train-grow-2", 3, { conditions: [has, admitted, evicted], admission: assigned(2) }),
      growth("train-grow-3", 6, { conditions: [held] }),
      growth("train-grow-4", 5, { conditions: [condition("Finished", "True", "Succeeded", "done", "30")] }),
    ];
    for (const one of made) {
      const { metadata, status } = Object(one);
      await request(transport, "POST", path, Object(one));
      const now = await request(transport, "GET", `${path}/${metadata.name}`);
      await request(transport, "PUT", `${path}/${metadata.name}/status`, { ...now, status });
    }
    return transport;
  };

  test("that grows tells of each growth what it grants or asks for, since when, and Kueue's words", async () => {
    const transport = await growing();
    const view = await kueueOf(transport, sparkApplication, objectOf(sparkApplication));
    assert.deepEqual(
      view?.growths?.map(({ workload, state, executors, since }) => [workload, state, executors, since]),
      [
        ["train-grow-1", "granted", 8, "2026-11-02T08:11:00Z"],
        ["train-grow-2", "evicted", 2, "2026-11-02T08:20:00Z"],
        ["train-grow-3", "waiting", 6, "2026-11-02T08:05:00Z"],
      ],
    );
    const text = kueueText({ ...view, message: "" }, (at) => new Date(at).toISOString().slice(11, 19));
    assert.equal(
      text,
      "LocalQueue team-a: held; 8 executors granted beyond its base, 2 evicted since 08:20:00: Preempted: Preempted to accommodate a workload, 6 asked for since 08:00:00: insufficient unused quota for cpu, 4 more needed",
    );
  });

  test("that is admitted with a part of its pods says with how many, and of a kind that grows what its base grants", async () => {
    const podSetAssignments = [{ name: "executor", count: 2, flavors: { cpu: "spot", memory: "slow" } }];
    const status = { conditions: [has, admitted], admission: { podSetAssignments } };
    const spec = { podSets: [{ name: "executor", count: 4, minCount: 2, template: {} }] };
    const view = await viewOf(status, spec);
    assert.equal(view?.message, "The workload is admitted; with 2 of 4 pods of executor");
    assert.deepEqual(view?.base, { executors: 2, flavors: "slow,spot" });
    assert.equal((await viewOf(status, spec, volcanoJob))?.base, undefined);
    assert.equal((await viewOf({ ...status, conditions: [has, admitted, evicted] }, spec))?.base, undefined);
  });

  test("that grows has the sums of its growths in a list", async () => {
    const sums = await growthSumsIn(await growing(), "");
    assert.deepEqual([...(sums ?? [])], [[uid, { granted: 8, waiting: 6, waitingSince: "2026-11-02T08:00:00Z" }]]);
    const { transport } = openSimulator({ start, crds: [] });
    assert.equal(await growthSumsIn(transport, ""), undefined, "the cluster does not serve Workloads");
  });

  test("of which growths are not known, says nothing about them, and not that there are none", async () => {
    const { transport } = openSimulator({ start, crds: kueueCrds });
    const body = JSON.stringify({ kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message: "no" });
    const forbidding: Transport = { ...transport, send: async () => ({ status: 403, headers: {}, body }) };
    const [unknown, none] = [
      await kueueOf(forbidding, sparkApplication, objectOf(sparkApplication)),
      await kueueOf(transport, sparkApplication, objectOf(sparkApplication)),
    ];
    assert.deepEqual([unknown?.growths, none?.growths], [undefined, []]);
    assert.equal((await kueueOf(transport, volcanoJob, objectOf(volcanoJob)))?.growths, undefined);
  });

  test("says that nobody admits it where the cluster does not serve Kueue's kinds", async () => {
    const { transport } = openSimulator({ start, crds: [] });
    const view = await kueueOf(transport, volcanoJob, objectOf(volcanoJob));
    const message = "nobody admits it: the cluster does not serve Workloads of Kueue (kueue.x-k8s.io/v1beta2)";
    assert.deepEqual([view?.state, view?.message], ["held", message]);
  });

  test("says why, where its Workload may not be read or does not exist", async () => {
    const { transport } = openSimulator({ start, crds: kueueCrds });
    const message = "workloads is forbidden";
    const body = JSON.stringify({ kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message });
    const forbidding: Transport = { ...transport, send: async () => ({ status: 403, headers: {}, body }) };
    const view = await kueueOf(forbidding, volcanoJob, objectOf(volcanoJob));
    const read = "its Workload cannot be read: list workloads default: workloads is forbidden";
    assert.deepEqual([view?.state, view?.message], ["unknown", read]);
    const [job, spark] = await Promise.all(
      [volcanoJob, sparkApplication].map((kind) => kueueOf(transport, kind, objectOf(kind))),
    );
    assert.equal(job?.message, "no Workload of it exists yet");
    assert.match(spark?.message ?? "", /integration sparkoperator.k8s.io\/sparkapplication/);
  });

  test("takes the Workload of no other object for its own, and reads none without the label or of another kind", async () => {
    assert.equal((await viewOf({ conditions: [held] }, {}, volcanoJob, "another"))?.workload, undefined);
    const { transport } = openSimulator({ start, crds: kueueCrds });
    const send: Transport["send"] = () => assert.fail("nothing is to be read");
    const silent = { ...transport, send };
    assert.equal(await kueueOf(silent, sparkApplication, objectOf(sparkApplication, {})), undefined);
    assert.equal(await kueueOf(silent, scheduledSparkApplication, objectOf(scheduledSparkApplication)), undefined);
  });

  test("shows it in a line of its status, and as data", async () => {
    const terminal = openTerminal();
    const made = application("app", { applicationState: { state: "SUSPENDED" } });
    await make(terminal.simulator, { ...made, metadata: { ...made.metadata, labels: label } });
    const { out } = await terminal.run("status", "app");
    assert.match(out, /^Kueue {6}LocalQueue team-a: held: nobody admits it: the cluster does not serve/m);
    const data = JSON.parse((await terminal.run("status", "app", "-o", "json")).out);
    assert.equal(data.kueue.queue, "team-a");
    const [row] = JSON.parse((await terminal.run("list", "-o", "json")).out);
    assert.deepEqual([row.name, row.growths], ["app", undefined]);
  });

  test("shows its growths in a list, as data", async () => {
    const terminal = openTerminal({ crds: ["checkpoints.", "sparkapplications."] });
    for (const crd of kueueCrds) await make(terminal.simulator, crd);
    const made = application("app", { applicationState: { state: "RUNNING" } });
    await make(terminal.simulator, { ...made, metadata: { ...made.metadata, labels: label } });
    const list = async () => JSON.parse((await terminal.run("list", "-o", "json")).out)[0];
    assert.equal((await list()).growths, undefined, "no growth is there");
    const { metadata, ...grown } = Object(growth("app-grow-1", 3, {}));
    const app = (
      await request(
        terminal.simulator.transport,
        "GET",
        "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/app",
      )
    )["metadata"];
    const labels = { ...metadata.labels, "rekindle.dev/app-uid": Object(app).uid };
    const path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
    await request(terminal.simulator.transport, "POST", path, { ...grown, metadata: { ...metadata, labels } });
    const { granted, waiting } = (await list()).growths;
    assert.deepEqual([granted, waiting], [0, 3]);
  });
});

describe("an application of spark.apache.org in a LocalQueue", () => {
  const kind =
    everyKind.find(({ resource }) => resource.keyKind === "ApacheSparkApplication") ?? assert.fail("no kind");
  const waitsIn = (state: string, labels: Record<string, string> = label, suspend = false): string => {
    const status = { currentState: { currentStateSummary: state, lastTransitionTime: "2026-11-02T08:00:00Z" } };
    return kind.stateOf({ ...objectOf(kind, labels), spec: { suspend }, status }).what.waitsFor;
  };

  test("is shown with what Kueue says of its Workload", async () => {
    const view = await viewOf({ conditions: [has, admitted] }, {}, kind);
    assert.deepEqual([view?.queue, view?.state], ["team-a", "admitted"]);
  });

  test("waits for Kueue until its next attempt has begun", () => {
    const waits = "its Workload of Kueue to be admitted: LocalQueue team-a";
    assert.deepEqual([waitsIn("Submitted"), waitsIn("ScheduledToRestart")], [waits, waits]);
    const others = [waitsIn("DriverRequested"), waitsIn("Submitted", {}), waitsIn("Submitted", label, true)];
    assert.ok(
      others.every((text) => !text.includes("Kueue")),
      others.join(),
    );
  });
});
