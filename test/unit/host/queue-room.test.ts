/** The capability of a queue limits all pods where Rekindle admits groups: beyond the minimum, after a change of replicas, and by limits. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import { at, home } from "./objects.ts";
import { itOnStand, phaseOf, type Stand, said } from "./stand.ts";

type Fields = Readonly<Record<string, unknown>>;

const queue = (name: string, capability: Fields): Obj => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name },
  spec: { capability },
});

type Wanted = {
  readonly replicas: number;
  readonly least?: number;
  readonly runMs?: number;
  readonly amounts?: Fields;
  readonly in?: string;
};

const hour = 3_600_000;

const job = (name: string, { replicas, least = 1, runMs = hour, amounts, in: inQueue = "q" }: Wanted): Obj => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: {
    minAvailable: least,
    queue: inQueue,
    tasks: [
      {
        name: "w",
        replicas,
        minAvailable: least,
        template: {
          metadata: { annotations: { "simulator.rekindle.dev/script": JSON.stringify({ runMs }) } },
          spec: {
            restartPolicy: "Never",
            containers: [{ name: "main", image: "busybox", resources: amounts ?? { requests: { cpu: "100m" } } }],
          },
        },
      },
    ],
  },
});

const running = (stand: Stand, name = ""): readonly Stored[] =>
  stand
    .all("Pod")
    .filter((pod) => pod.metadata.name.startsWith(name))
    .filter((pod) => !["Succeeded", "Failed"].includes(String(at(pod, "status", "phase"))));

const groupOf = (stand: Stand, name: string): Stored | undefined =>
  stand.all("PodGroup").find(({ metadata }) => metadata.name.startsWith(`${name}-`));

const reasonOf = (stand: Stand, name: string): string =>
  JSON.stringify(at(groupOf(stand, name), "status", "conditions"));

const scale = async (stand: Stand, name: string, replicas: number): Promise<void> => {
  const there = stand.get("Job", name);
  assert.ok(there !== undefined);
  const [task] = Object(there["spec"])["tasks"];
  await stand.patch("Job", name, { spec: { tasks: [{ ...task, replicas }] } });
};

const it = itOnStand();

for (const gang of ["auto", "none", "builtin"] as const)
  describe(`the capability of a queue, with gang ${gang}`, () => {
    it("bounds pods beyond the minimum, says how many wait, and lets them follow as others end", async (stand) => {
      await stand.create(home);
      await stand.host({ gang });
      await stand.create(queue("q", { cpu: "500m" }));
      await stand.create(job("many", { replicas: 12, runMs: 60_000 }));
      await stand.until("five run", () => running(stand).length === 5 && phaseOf(stand, "many") === "Running", 60_000);
      await stand.turn(20_000);
      assert.equal(running(stand).length, 5);
      assert.match(reasonOf(stand, "many"), /queue q has too little cpu left: 7 of 12 pods wait/);
      assert.match(said(stand, "PodGroupPending").join(), /7 of 12 pods wait/);
      let most = 0;
      await stand.until(
        "all have run",
        () => {
          most = Math.max(most, running(stand).length);
          return phaseOf(stand, "many") === "Completed";
        },
        600_000,
      );
      assert.equal(most, 5);
    });

    it("bounds a job that is scaled up, and gives it the room that another leaves", async (stand) => {
      await stand.create(home);
      await stand.host({ gang });
      await stand.create(queue("q", { cpu: "400m" }));
      await stand.create(job("grows", { replicas: 2 }));
      await stand.create(job("other", { replicas: 2, least: 2, runMs: 120_000 }));
      await stand.until("both run", () => running(stand).length === 4, 60_000);
      await scale(stand, "grows", 8);
      await stand.turn(20_000);
      assert.equal(running(stand).length, 4);
      assert.match(reasonOf(stand, "grows"), /queue q has too little cpu left: 6 of 8 pods wait/);
      await stand.until("the other is complete", () => phaseOf(stand, "other") === "Completed", 200_000);
      await stand.until("it has the room", () => running(stand, "grows").length === 4, 60_000);
      await scale(stand, "grows", 3);
      await stand.until("it is smaller", () => running(stand, "grows").length === 3, 60_000);
      await stand.until("nothing waits", () => !reasonOf(stand, "grows").includes("wait"), 60_000);
    });

    it("shares what is left among jobs whose pods are beyond their minimum", async (stand) => {
      await stand.create(home);
      await stand.create(queue("q", { cpu: "1" }));
      await stand.create(job("a", { replicas: 20 }));
      await stand.create(job("b", { replicas: 20 }));
      await stand.host({ gang });
      await stand.until("the queue is full", () => running(stand).length === 10, 60_000);
      await stand.turn(40_000);
      const counts = [running(stand, "a-").length, running(stand, "b-").length];
      assert.equal((counts[0] ?? 0) + (counts[1] ?? 0), 10);
      assert.ok(Math.min(...counts) >= 4, counts.join());
    });

    it("counts a limit without a request as the request", async (stand) => {
      await stand.create(home);
      await stand.host({ gang });
      await stand.create(queue("q", { "nvidia.com/gpu": "2", cpu: "64" }));
      await stand.create(job("two", { replicas: 2, least: 2, amounts: { limits: { cpu: "1" } } }));
      await stand.create(job("four", { replicas: 4, least: 4, amounts: { limits: { "nvidia.com/gpu": "1" } } }));
      await stand.until("the first runs", () => running(stand, "two").length === 2, 60_000);
      await stand.turn(20_000);
      assert.equal(running(stand, "four").length, 0);
      assert.match(reasonOf(stand, "four"), /queue q has 2 nvidia.com\/gpu in all, and 4 are needed/);
    });
  });
