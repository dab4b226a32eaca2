/** Signs of other controllers: leases that are valid by the server's clock, and images of Deployments with replicas. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import {
  outlineOfDeployment,
  outlineOfPod,
  runningSigns,
  workloadsOf,
} from "../../../shared/kube/controller-workloads.ts";
import { isRenewed, leaseSigns, partOf, upstreams } from "../../../shared/kube/upstream-controllers.ts";

const now = Date.UTC(2026, 10, 2, 8, 0, 0);
const stored = (kind: string, name: string, spec: unknown): Stored => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "ops", uid: "u", resourceVersion: "1" },
  spec,
});
const lease = (name: string, spec: object = {}): Stored =>
  stored("Lease", name, {
    holderIdentity: "pod-1",
    leaseDurationSeconds: 15,
    renewTime: "2026-11-02T07:59:50.123456Z",
    ...spec,
  });
const deployment = (image: string, more: { replicas?: number; args?: readonly string[] } = {}): Stored => {
  const { args, ...spec } = more;
  return stored("Deployment", "controller", {
    ...spec,
    template: { spec: { containers: [{ image: "proxy" }, { image, args }] } },
  });
};

describe("a lease", () => {
  const rows: Record<string, { spec: object; alive: boolean }> = {
    "renewed ten seconds ago": { spec: {}, alive: true },
    "renewed in the future": { spec: { renewTime: "2026-11-02T08:00:09Z" }, alive: true },
    "at the end of its grace": { spec: { renewTime: "2026-11-02T07:59:40Z" }, alive: true },
    "renewed a minute ago": { spec: { renewTime: "2026-11-02T07:59:00Z" }, alive: false },
    "long, renewed a minute ago": {
      spec: { renewTime: "2026-11-02T07:59:00Z", leaseDurationSeconds: 60 },
      alive: true,
    },
    "held for 68 years, renewed two hours ago": {
      spec: { renewTime: "2026-11-02T06:00:00Z", leaseDurationSeconds: 2_147_483_647 },
      alive: false,
    },
    "renewed in the far future": { spec: { renewTime: "2094-11-02T08:00:00Z" }, alive: false },
    "given back": { spec: { holderIdentity: "" }, alive: false },
    "never renewed": { spec: { renewTime: undefined }, alive: false },
  };
  for (const [name, { spec, alive }] of Object.entries(rows)) {
    it(`${name} is ${alive ? "kept" : "free"}`, () => assert.equal(isRenewed(lease("l", spec), now), alive));
  }
});

describe("signs of other controllers", () => {
  const none = { leases: [], deployments: [], pods: [] };
  type Seen = Readonly<Record<"leases" | "deployments" | "pods", readonly Stored[]>>;
  /** The signs among objects as a list keeps them. */
  const signsOf = ({ leases, deployments, pods }: Seen): readonly string[] =>
    upstreams.flatMap((upstream) => {
      const outlined = {
        deployments: deployments.flatMap((one) => outlineOfDeployment(upstream)(one) ?? []),
        pods: pods.flatMap((one) => outlineOfPod(upstream)(one) ?? []),
      };
      const held = leaseSigns(upstream, { leases, namespaces: ["ops"], now });
      return [...held, ...runningSigns(upstream, workloadsOf(upstream, outlined))];
    });
  it("are told with their place", () => {
    const seen = { ...none, leases: [lease("spark-operator-controller-lock"), lease("somebody-else")] };
    assert.deepEqual(signsOf(seen), ["kubeflow spark-operator holds the lease ops/spark-operator-controller-lock"]);
    const running = { ...none, deployments: [deployment("docker.io/volcanosh/vc-controller-manager:v1.12.1")] };
    assert.deepEqual(signsOf(running), ["Volcano runs as the deployment ops/controller"]);
  });

  const labels = { kubeflow: { "app.kubernetes.io/name": "spark-operator" }, volcano: { app: "volcano-controller" } };
  const pods: readonly (readonly [
    name: string,
    labels: Record<string, string>,
    image: string,
    ready: string,
    found: boolean,
  ])[] = [
    ["Volcano's, of any image", labels.volcano, "mirror/x:1", "True", true],
    ["Spark's, of any image", labels.kubeflow, "mirror/x:1", "True", true],
    [
      "Spark's webhook by its label",
      { ...labels.kubeflow, "app.kubernetes.io/component": "webhook" },
      "x",
      "True",
      false,
    ],
    ["one that is not Ready", labels.volcano, "vc-controller-manager:1", "False", false],
    [
      "one with such a label, and another part's image",
      labels.volcano,
      "volcanosh/vc-webhook-manager:1",
      "True",
      false,
    ],
    ["one without such a label", { app: "x" }, "mirror/x:1", "True", false],
  ];
  for (const [name, own, image, ready, found] of pods)
    it(`pod: ${name}: ${found ? "a sign" : "none"}`, () => {
      const pod = {
        ...stored("Pod", "p", { containers: [{ image }] }),
        status: { phase: "Running", conditions: [{ type: "Ready", status: ready }] },
      };
      const labelled = { ...pod, metadata: { ...pod.metadata, labels: own } };
      assert.equal(signsOf({ ...none, pods: [labelled] }).length, found ? 1 : 0);
    });

  const images: Record<string, boolean> = {
    "ghcr.io/kubeflow/spark-operator/controller:2.3.0": true,
    "docker.io/kubeflow/spark-operator:2.0.2": true,
    "registry:5000/mirror/spark-operator@sha256:00": true,
    "spark-operator": true,
    "apache/spark-kubernetes-operator:0.5.0": true,
    "ghcr.io/kubeflow/spark-operator/kubectl:2.3.0": false,
    "rekindle:1": false,
  };
  for (const [image, found] of Object.entries(images)) {
    it(`${image} is ${found ? "one" : "none"}`, () => {
      assert.equal(signsOf({ ...none, deployments: [deployment(image)] }).length, found ? 1 : 0);
    });
  }

  it("are not those that are scaled to zero, serve webhooks only, or make no sense", () => {
    const image = "kubeflow/spark-operator:2";
    const deployments = [
      deployment(image, { replicas: 0 }),
      deployment(image, { args: ["webhook", "start"] }),
      stored("Deployment", "odd", { template: { spec: { containers: [null, { image: 1 }] } } }),
      stored("Deployment", "odder", null),
    ];
    assert.deepEqual(signsOf({ ...none, deployments }), []);
    assert.equal(signsOf({ ...none, deployments: [deployment(image, { args: ["controller", "start"] })] }).length, 1);
  });
});

describe("parts of Volcano, by their images", () => {
  const parts: Record<string, string | undefined> = {
    "docker.io/volcanosh/vc-controller-manager:v1.12.1": "controller",
    "volcanosh/vc-controller-manager-arm64:v1.3.0": "controller",
    "mirror:5000/vc-webhook-manager@sha256:00": "webhook",
    "volcanosh/vc-scheduler:latest": "scheduler",
    "volcanosh/vc-agent-scheduler:v1.14.0": "scheduler",
    "volcanosh/vc-agent:v1.12.1": undefined,
    "volcanosh/volcano-global-webhook-manager:v0.1.0": undefined,
  };
  for (const [image, part] of Object.entries(parts)) {
    it(`${image} is ${part ?? "none of it"}`, () => {
      const found = upstreams.flatMap((upstream) => partOf(upstream, deployment(image)) ?? []);
      assert.deepEqual(found, part === undefined ? [] : [{ part, image }]);
    });
  }
});
