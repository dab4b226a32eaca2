/** The bounded parts of objects that an admission round keeps. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { pinned, pinOf } from "../../../../shared/kube/nodes.ts";
import { groupOutline, jobOutlines } from "../../../../shared/volcano/gang/outlines.ts";
import { nodeOutline, podOutline } from "../../../../shared/volcano/gang/pod-outlines.ts";

type Fields = Readonly<Record<string, unknown>>;

const stored = (kind: string, name: string, more: Fields, metadata: Fields = {}): Stored => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "ns", uid: name, resourceVersion: "1", ...metadata },
  ...more,
});

const many = (count: number, text: string): Fields =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`example.com/${at}`, text]));

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

test("a group's outline has queue, class, minResources that queues limit, phase, conditions and owning Job", () => {
  const owner = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "j", uid: "u" };
  const group = stored(
    "PodGroup",
    "g",
    {
      spec: { queue: "q", priorityClassName: "p", minMember: 2, minResources: { ...many(5_000, "1"), cpu: "3" } },
      status: { phase: "Pending", conditions: Array.from({ length: 900 }, (_, at) => ({ type: `t${at}` })) },
    },
    {
      labels: many(1_000, "x"),
      annotations: { "rekindle.dev/scheduled-by": "default-scheduler", other: "x".repeat(100_000) },
      ownerReferences: [...Array.from({ length: 500 }, () => ({ ...owner, kind: "Pod" })), owner],
      managedFields: [{ manager: "vc-scheduler", time: "2026-11-02T08:00:00Z", fieldsV1: many(5_000, "x") }],
    },
  );
  const outline = groupOutline(new Set(["cpu", "memory"]))(group);
  assert.deepEqual(outline?.["spec"], {
    ...{ queue: "q", priorityClassName: "p", minMember: 2 },
    minResources: { cpu: "3" },
  });
  assert.deepEqual(outline?.metadata.annotations, { "rekindle.dev/scheduled-by": "default-scheduler" });
  assert.deepEqual(outline?.metadata.ownerReferences, [owner]);
  assert.ok(JSON.stringify(outline).includes("vc-scheduler"));
  assert.ok(sizeOf(outline) < 3_000, `${sizeOf(outline)}`);
});

describe("outlines of Jobs", () => {
  const jobOf = (name: string, namespace: string, text: number): Stored =>
    stored(
      "Job",
      name,
      {
        spec: {
          plugins: { svc: ["x".repeat(10_000)] },
          tasks: [
            {
              ...{ name: "w", replicas: 2 },
              template: {
                spec: {
                  containers: [{ name: "c", image: "i", env: [{ name: "A", value: "x".repeat(10_000) }] }],
                  nodeSelector: { a: "x".repeat(text) },
                },
              },
            },
          ],
        },
      },
      { namespace },
    );

  test("exist for the groups to plan alone, and have only the fields that a plan reads", () => {
    const project = jobOutlines(new Set(["a"]));
    assert.equal(project(jobOf("b", "ns", 1)), undefined);
    const outline = project(jobOf("a", "ns", 1));
    assert.ok(sizeOf(outline) < 500);
    assert.deepEqual(outline?.["spec"], {
      tasks: [
        {
          ...{ name: "w", replicas: 2 },
          template: { spec: { nodeSelector: { a: "x" }, containers: [{ name: "c", image: "i" }] } },
        },
      ],
    });
  });

  test("of one tenant have no spec beyond the text that other tenants may still use", () => {
    const names = Array.from({ length: 100 }, (_, at) => `j${at}`);
    const project = jobOutlines(new Set([...names, "other"]), 100_000);
    const kept = names.map((name) => project(jobOf(name, "mallory", 5_000)));
    const whole = kept.filter((job) => job?.["spec"] !== undefined);
    assert.ok(whole.length >= 5 && whole.length <= 10, `${whole.length}`);
    assert.ok(kept.every((job) => job !== undefined));
    assert.ok(project(jobOf("other", "default", 5_000))?.["spec"] !== undefined);
  });
});

describe("outlines of PodGroups", () => {
  const planned = (name: string, text: string, namespace: string): Stored =>
    stored("PodGroup", name, { spec: {} }, { namespace, annotations: { "rekindle.dev/plan": text, other: "x" } });

  test("have the plan, unless it is longer than any plan that Rekindle writes", () => {
    const project = groupOutline(new Set());
    assert.deepEqual(project(planned("a", "p", "ns"))?.metadata.annotations, { "rekindle.dev/plan": "p" });
    assert.equal(project(planned("b", "p".repeat(40_000), "ns"))?.metadata.annotations, undefined);
  });

  test("of one tenant have no plan beyond the text that other tenants may still use", () => {
    const project = groupOutline(new Set(), 100_000);
    const kept = Array.from({ length: 50 }, (_, at) => project(planned(`g${at}`, "p".repeat(5_000), "mallory")));
    const whole = kept.filter((group) => group?.metadata.annotations !== undefined);
    assert.ok(whole.length >= 5 && whole.length <= 10, `${whole.length}`);
    assert.ok(project(planned("other", "p".repeat(5_000), "default"))?.metadata.annotations !== undefined);
  });
});

describe("outlines of pods", () => {
  const spec = {
    containers: [{ env: [{ name: "A", value: "x".repeat(9_000) }], resources: { requests: { cpu: "1500m" } } }],
  };

  test("with a node have the node's name, their phase and their requests", () => {
    const pod = stored("Pod", "p", { spec: { ...spec, nodeName: "n" }, status: { phase: "Running", message: "m" } });
    assert.deepEqual(podOutline(pod)?.["spec"], { nodeName: "n", resources: { requests: { cpu: "1500m" } } });
    assert.deepEqual(podOutline(pod)?.["status"], { phase: "Running" });
  });

  test("that are pinned to a node have the pin, as the place is taken before the binding", () => {
    const outline = podOutline(stored("Pod", "p", { spec: pinned(spec, "n") }));
    assert.ok(outline !== undefined);
    assert.equal(pinOf(Object(outline["spec"])), "n");
    assert.deepEqual(Object(outline["spec"]).resources, { requests: { cpu: "1500m" } });
  });

  test("have their host ports", () => {
    const ports = [{ containerPort: 8, hostPort: 80, name: "x".repeat(60) }, { containerPort: 9 }];
    const outline = podOutline(stored("Pod", "p", { spec: { nodeName: "n", containers: [{ name: "a", ports }] } }));
    assert.deepEqual(Object(outline?.["spec"]).containers, [{ ports: [{ protocol: "TCP", hostPort: 80 }] }]);
  });

  test("have their labels, and their anti-affinity between nodes", () => {
    const own = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app: "a" } } };
    const terms = [own, { ...own, topologyKey: "zone" }, { ...own, namespaceSelector: {} }];
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    const outline = podOutline(stored("Pod", "p", { spec: { nodeName: "n", affinity } }, { labels: { app: "a" } }));
    assert.deepEqual(outline?.metadata.labels, { app: "a" });
    assert.deepEqual(Object(outline?.["spec"]).affinity, {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [own] },
    });
  });

  test("have neither labels nor anti-affinity of very long text", () => {
    const labelSelector = { matchExpressions: [{ key: "app", operator: "In", values: ["x".repeat(5_000)] }] };
    const terms = [{ topologyKey: "kubernetes.io/hostname", labelSelector }];
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    const labels = many(200, "x");
    const outline = podOutline(stored("Pod", "p", { spec: { nodeName: "n", affinity } }, { labels }));
    assert.equal(outline?.metadata.labels, undefined);
    assert.equal(Object(outline?.["spec"]).affinity, undefined);
  });

  test("of a group without a node state only their group", () => {
    const annotations = { "scheduling.k8s.io/group-name": "g", other: "x" };
    const outline = podOutline(stored("Pod", "p", { spec }, { annotations }));
    assert.deepEqual(outline?.["spec"], {});
    assert.deepEqual(outline?.metadata.annotations, { "scheduling.k8s.io/group-name": "g" });
  });

  test("without a node and a group do not exist", () =>
    assert.equal(podOutline(stored("Pod", "p", { spec })), undefined));

  test("have no requests if they name thousands of resources, which no node accepts", () => {
    const containers = [{ resources: { requests: many(20_000, "1") } }];
    const outline = podOutline(stored("Pod", "p", { spec: { containers, nodeName: "n" } }));
    assert.deepEqual(outline?.["spec"], { nodeName: "n", resources: { requests: {} } });
  });
});

test("a node's outline has labels, taints, cordon and allocatable resources", () => {
  const node = stored("Node", "n", {
    spec: { taints: [{ key: "a" }], unschedulable: true, podCIDR: "10.0.0.0/24" },
    status: { allocatable: { cpu: "4" }, images: [{ names: ["x".repeat(9_000)] }] },
  });
  assert.ok(sizeOf(nodeOutline(node)) < 400);
});
