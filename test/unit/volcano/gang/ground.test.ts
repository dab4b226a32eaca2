/** Admission with `gang: builtin`: the groups that enter, and the room that others hold. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { verdictsOf } from "../../../../shared/volcano/gang/admission.ts";
import { openGround } from "../../../../shared/volcano/gang/ground.ts";

type Fields = Readonly<Record<string, unknown>>;

const eight = Date.UTC(2026, 10, 2, 8);

const stored = (kind: string, name: string, more: Fields, metadata: Fields = {}): Stored => ({
  apiVersion: kind === "Job" ? "batch.volcano.sh/v1alpha1" : "v1",
  kind,
  metadata: { name, namespace: "ns", uid: `${kind} ${name}`, resourceVersion: "1", ...metadata },
  ...more,
});

const node = (name: string, cpu: number): Stored =>
  stored("Node", name, { status: { allocatable: { cpu: `${cpu}`, pods: "100" } } });

type Task = { readonly cpu: number; readonly replicas: number; readonly least?: number; readonly more?: Fields };

const job = (name: string, { cpu, replicas, least = replicas, more = {} }: Task): Stored => {
  const resources = { requests: { cpu: `${cpu}` } };
  const spec = { containers: [{ name: "main", image: "busybox", resources }], restartPolicy: "Never", ...more };
  return stored("Job", name, {
    spec: { minAvailable: least, tasks: [{ name: "w", replicas, minAvailable: least, template: { spec } }] },
  });
};

const groupOf = (name: string, { age = 0, phase = "", owned = true, priorityClassName = "" } = {}): Stored =>
  stored(
    "PodGroup",
    name,
    { spec: { queue: "q", ...(priorityClassName === "" ? {} : { priorityClassName }) }, status: { phase } },
    {
      creationTimestamp: timeText(eight - age * 1_000),
      ...(owned
        ? { ownerReferences: [{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name, uid: `Job ${name}` }] }
        : {}),
    },
  );

const podOf = (
  name: string,
  group: string,
  { cpu = 1, on = "n", phase = "Running", nominated = "", metadata = {} } = {},
): Stored =>
  stored(
    "Pod",
    name,
    {
      spec: { ...(on === "" ? {} : { nodeName: on }), containers: [{ resources: { requests: { cpu: `${cpu}` } } }] },
      status: { phase, ...(nominated === "" ? {} : { nominatedNodeName: nominated }) },
    },
    { annotations: { "scheduling.k8s.io/group-name": group, "volcano.sh/task-spec": "w" }, ...metadata },
  );

const queue = stored("Queue", "q", { spec: {}, status: { state: "Open" } });

type Given = {
  readonly nodes?: readonly Stored[];
  readonly pods?: readonly Stored[];
  readonly jobs: readonly Stored[];
  readonly groups: readonly Stored[];
  readonly priorities?: Readonly<Record<string, number>>;
};

const verdicts = ({ nodes = [node("n", 4)], pods = [], jobs, groups, priorities = {} }: Given): Fields => {
  const starting = groups.filter(({ status }) => JSON.stringify(status).includes("Inqueue"));
  const values = new Map(Object.entries(priorities));
  const ground = openGround({ nodes, pods, jobs, priorities: values, starting });
  return Object.fromEntries(
    verdictsOf({ queues: [queue], groups, priorities: values, ground }).map((verdict) => [
      verdict.group.metadata.name,
      verdict.enters ? "" : verdict.why,
    ]),
  );
};

const three: Task = { cpu: 1, replicas: 3 };
const full = "needs 3 × 1 cpu; 1 place on 1 of 1 node";
const older = groupOf("a", { age: 9 });

const rows: readonly (readonly [string, Given, Fields])[] = [
  [
    "of two groups for one place the older enters",
    { jobs: [job("a", three), job("b", three)], groups: [groupOf("b"), older] },
    { a: "", b: full },
  ],
  [
    "of two groups for one place the one of the higher priority enters",
    {
      jobs: [job("a", three), job("b", three)],
      groups: [older, groupOf("b", { priorityClassName: "high" })],
      priorities: { high: 10 },
    },
    { a: full, b: "" },
  ],
  [
    "a group that was let in and has no pods yet holds its room",
    { jobs: [job("a", three), job("b", three)], groups: [groupOf("a", { phase: "Inqueue" }), groupOf("b")] },
    { b: full },
  ],
  [
    "its pods with a node are not counted twice, and those of others count",
    {
      jobs: [job("a", three), job("b", { cpu: 1, replicas: 1 }), job("c", { cpu: 1, replicas: 1 })],
      pods: [podOf("a-0", "a"), podOf("a-1", "a")],
      groups: [groupOf("a", { phase: "Inqueue" }), groupOf("b", { age: 1 }), groupOf("c")],
    },
    { b: "", c: "needs 1 × 1 cpu; 0 places on 1 node" },
  ],
  [
    "pods beyond the minimum hold room, too, for nothing holds them back",
    {
      jobs: [job("a", { cpu: 1, replicas: 4, least: 1 }), job("b", { cpu: 1, replicas: 1 })],
      groups: [older, groupOf("b")],
    },
    { a: "", b: "needs 1 × 1 cpu; 0 places on 1 node" },
  ],
  [
    "pods of others hold room until they have ended, also under deletion, and by nomination",
    {
      jobs: [job("a", three)],
      pods: [
        podOf("x", "", { metadata: { deletionTimestamp: timeText(eight) } }),
        podOf("y", "", { on: "", phase: "Pending", nominated: "n" }),
        podOf("z", "", { phase: "Succeeded" }),
      ],
      groups: [older],
    },
    { a: "needs 3 × 1 cpu; 2 places on 1 of 1 node" },
  ],
  [
    "a group beyond the empty cluster is told so",
    { jobs: [job("a", { cpu: 5, replicas: 1 })], pods: [podOf("x", "")], groups: [older] },
    { a: "would not fit the empty cluster: needs 1 × 5 cpu; 0 places on 1 node" },
  ],
  [
    "a constraint that no plan covers is refused in words",
    { jobs: [job("a", { ...three, more: { hostNetwork: true } })], groups: [older] },
    {
      a: "task w has a host port or the host's network, which `gang: builtin` cannot plan: remove it, or set gang to none",
    },
  ],
  [
    "a group without a Job enters by its queue alone",
    { jobs: [], groups: [groupOf("a", { owned: false })] },
    { a: "" },
  ],
  ["a group whose Job is not found waits", { jobs: [], groups: [older] }, { a: "its Job is not found" }],
];

describe("with gang: builtin", () => {
  for (const [what, given, expected] of rows) test(what, () => assert.deepEqual(verdicts(given), expected));

  test("a namespace's groups without room do not lengthen the round beyond 50 different ones", () => {
    const names = Array.from({ length: 60 }, (_, at) => `g${at}`);
    const found = verdicts({
      jobs: names.map((name, at) => job(name, { cpu: 5 + at, replicas: 1 })),
      groups: names.map((name, at) => groupOf(name, { age: 100 - at })),
    });
    assert.match(String(found["g49"]), /would not fit the empty cluster/);
    assert.equal(found["g50"], "50 groups of its namespace come before it and have no room");
  });
});
