/** The groups that wait in a queue: their order, their lacks, the viewers who see them, and the requests to the API server. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Transport } from "../../../../shared/core/http.ts";
import { openWaiting } from "../../../../shared/deployments/page/queue-order.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";

const start = Date.parse("2026-11-02T08:00:00Z");

const post = ({ handle }: Simulator, path: string, object: object): void => {
  const headers = { "content-type": "application/json" };
  const { status, body } = handle({ method: "POST", path, headers, body: JSON.stringify(object) });
  assert.equal(status, 201, body);
};

const group = (namespace: string, name: string, spec: object = {}, status: object = {}) => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "PodGroup",
  metadata: { name, namespace },
  spec: { queue: "batch", minMember: 1, ...spec },
  status,
});

const lacking = (message: string) => ({
  phase: "Pending",
  conditions: [{ type: "Unschedulable", status: "True", message }],
});

/** Three groups wait in `batch`, one of them urgent; one runs, and one waits elsewhere. */
const open = (more: readonly ReturnType<typeof group>[] = []) => {
  const simulator = openSimulator({ start, crds });
  for (const name of ["team-a", "team-b"])
    post(simulator, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  post(simulator, "/apis/scheduling.k8s.io/v1/priorityclasses", {
    ...{ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name: "urgent" }, value: 10 },
  });
  const groups = [
    group("team-a", "first", {}, lacking("2 more cpu of queue batch")),
    group("team-b", "second"),
    group("team-a", "urgent", { priorityClassName: "urgent" }),
    group("team-a", "running", {}, { phase: "Running" }),
    group("team-b", "elsewhere", { queue: "other" }),
    ...more,
  ];
  for (const one of groups) {
    const path = `/apis/scheduling.volcano.sh/v1beta1/namespaces/${one.metadata.namespace}/podgroups`;
    post(simulator, path, one);
    const headers = { "content-type": "application/merge-patch+json" };
    const body = JSON.stringify({ status: one.status });
    simulator.handle({ method: "PATCH", path: `${path}/${one.metadata.name}/status`, headers, body });
  }
  const asked: string[] = [];
  let refused = /^$/;
  const transport: Transport = {
    ...simulator.transport,
    send: async (request) => {
      const path = request.path.split("?")[0] ?? "";
      asked.push(path.split("/").at(-1) ?? "");
      return refused.test(path)
        ? { status: 403, headers: {}, body: JSON.stringify({ kind: "Status", code: 403, reason: "Forbidden" }) }
        : await simulator.transport.send(request);
    },
  };
  let now = 0;
  return {
    waiting: openWaiting(transport, () => now),
    asked,
    pass: (ms: number) => {
      now += ms;
    },
    refuse: (paths: RegExp) => {
      refused = paths;
    },
  };
};

describe("what waits in a queue", () => {
  test("is told in the order of admission, with what each group lacks", async () => {
    const { waiting } = open();
    const found = await waiting("batch", []);
    assert.deepEqual(
      found?.groups.map(({ position, namespace, name, why }) => [position, `${namespace}/${name}`, why]),
      [
        [1, "team-a/urgent", ""],
        [2, "team-a/first", "2 more cpu of queue batch"],
        [3, "team-b/second", ""],
      ],
    );
    assert.deepEqual([found?.of, found?.more], [3, 0]);
    assert.deepEqual(await waiting("nothing-waits-here", []), { of: 0, groups: [], more: 0 });
  });

  test("shows a viewer of one namespace its own groups, at their places among all", async () => {
    const found = await open().waiting("batch", ["team-b"]);
    assert.deepEqual([found?.of, found?.groups.map(({ position, name }) => [position, name])], [3, [[3, "second"]]]);
    assert.ok(!JSON.stringify(found).includes("team-a"));
  });

  test("leads to the job of a group, and not to a job of Kubernetes that has the group's pods", async () => {
    const ownedBy = (name: string, apiVersion: string) => {
      const one = group("team-a", name, { queue: "owned" });
      return {
        ...one,
        metadata: { ...one.metadata, ownerReferences: [{ apiVersion, kind: "Job", name: "sum", uid: "u" }] },
      };
    };
    const { waiting } = open([ownedBy("a", "batch.volcano.sh/v1alpha1"), ownedBy("b", "batch/v1")]);
    const found = await waiting("owned", []);
    assert.deepEqual(
      found?.groups.map(({ name, owner }) => [name, owner]),
      [
        ["a", "sum"],
        ["b", ""],
      ],
    );
  });

  test("is listed once in five seconds, however many look", async () => {
    const { waiting, asked, pass } = open();
    await Promise.all(Array.from({ length: 50 }, (_, nth) => waiting("batch", nth % 2 === 0 ? [] : ["team-a"])));
    assert.deepEqual(asked, ["podgroups", "urgent"]);
    pass(4_999);
    await waiting("batch", []);
    assert.equal(asked.length, 2);
    pass(1);
    await waiting("batch", []);
    assert.equal(asked.length, 4);
  });

  test("takes the right to read priority classes by name alone, and is not told without it", async () => {
    const one = open();
    one.refuse(/priorityclasses$/);
    assert.equal((await one.waiting("batch", []))?.groups[0]?.name, "urgent");
    const none = open();
    none.refuse(/priorityclasses/);
    assert.equal(await none.waiting("batch", []), undefined);
    none.refuse(/podgroups/);
    none.pass(5_000);
    assert.equal(await none.waiting("batch", []), undefined);
  });

  test("is at most 200 groups, and the number of the others", async () => {
    const more = Array.from({ length: 250 }, (_, nth) => group("team-b", `more-${nth}`));
    const found = await open(more).waiting("batch", []);
    assert.deepEqual([found?.groups.length, found?.more, found?.of], [200, 53, 253]);
  });
});
