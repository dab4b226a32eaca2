/** Plans and queues count what the API server adds to pods; a plan whose pods were larger than it is not repeated. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { at, home } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

type Fields = Readonly<Record<string, unknown>>;

const hour = 3_600_000;

const job = (name: string, replicas: number, more: Fields = {}): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: {
    minAvailable: replicas,
    queue: "q",
    tasks: [
      {
        name: "w",
        replicas,
        template: {
          metadata: { annotations: { "simulator.rekindle.dev/script": JSON.stringify({ runMs: hour }) } },
          spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }], ...more },
        },
      },
    ],
  },
});

const queue = (spec: Fields): Obj => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name: "q" },
  spec,
});

const range: Obj = {
  apiVersion: "v1",
  kind: "LimitRange",
  metadata: { name: "sizes", namespace: "default" },
  spec: { limits: [{ type: "Container", default: { cpu: "3" } }] },
};

const sandboxed: Obj = {
  apiVersion: "node.k8s.io/v1",
  kind: "RuntimeClass",
  metadata: { name: "sandboxed" },
  ...{ handler: "sandbox", overhead: { podFixed: { cpu: "3" } } },
};

const nodes = ["n1", "n2", "n3"].map((name) => ({ name, cpu: "4" }));

const placesOf = (stand: Stand): readonly string[] =>
  stand
    .all("Pod")
    .map((pod) => String(at(pod, "spec", "nodeName") ?? ""))
    .sort();

const rows: readonly (readonly [string, Obj, Fields])[] = [
  ["the defaults of a LimitRange", range, {}],
  ["the overhead of a RuntimeClass", sandboxed, { runtimeClassName: "sandboxed" }],
];

const it = itOnStand({ nodes });

for (const [what, object, more] of rows)
  describe(what, () => {
    it("count in plans: three pods of an empty cluster get a node each, at once", async (stand) => {
      await stand.create(home);
      await stand.create(object);
      await stand.host({ gang: "builtin" });
      await stand.create(queue({}));
      await stand.create(job("wide", 3, more));
      await stand.until("each has a node", () => placesOf(stand).join() === "n1,n2,n3", 15_000);
    });

    it("count for the capability of a queue", async (stand) => {
      await stand.create(home);
      await stand.create(object);
      await stand.host();
      await stand.create(queue({ capability: { cpu: "6" } }));
      await stand.create(job("wide", 3, more));
      await stand.turn(15_000);
      assert.deepEqual(stand.all("Pod"), []);
      assert.match(JSON.stringify(stand.all("PodGroup")), /queue q has 6 cpu in all, and 9 are needed/);
    });
  });
