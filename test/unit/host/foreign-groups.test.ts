/** Pods of others that name Volcano's scheduler, and groups of others, where that scheduler does not run. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { fieldsOf } from "../../../shared/core/json.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { at, home } from "./objects.ts";
import { itOnStand, type Stand, said } from "./stand.ts";

const pod = (name: string, schedulerName: string, group?: string): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name, namespace: "default" },
    ...(group === undefined ? {} : { annotations: { "scheduling.k8s.io/group-name": group } }),
  },
  spec: { schedulerName, containers: [{ name: "main", image: "busybox", resources: { requests: { cpu: "1" } } }] },
});

const group: Obj = {
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "PodGroup",
  metadata: { name: "ray-cluster", namespace: "default" },
  spec: { minMember: 1, queue: "default", minResources: { cpu: "1" } },
};

const groupsSay = (stand: Stand): string =>
  stand
    .all("PodGroup")
    .map((one) => `${at(one, "status", "phase")} ${JSON.stringify(at(one, "status", "conditions"))}`)
    .join("; ");

const missing = /Pending .*name the scheduler volcano, which does not run here/;

const it = itOnStand();

for (const gang of ["auto", "builtin"] as const)
  describe(`without Volcano's scheduler, gang ${gang}`, () => {
    it("a bare pod that names it is not admitted, and pod and group say why", async (stand) => {
      await stand.create(home);
      await stand.host({ gang });
      await stand.create(pod("bare", "volcano"));
      await stand.until("its group says why", () => missing.test(groupsSay(stand)), 90_000);
      assert.match(
        said(stand, "FailedScheduling").join(),
        /PodGroup podgroup-\S+ is not admitted: .*default-scheduler/,
      );
    });

    it("a group of others waits for its pods, and says why it is not admitted when they name it", async (stand) => {
      await stand.create(home);
      await stand.host({ gang });
      await stand.create(group);
      await stand.until("it waits", () => /Pending .*it has no pods yet/.test(groupsSay(stand)), 30_000);
      await stand.create(pod("head", "volcano", "ray-cluster"));
      await stand.until("it says why", () => missing.test(groupsSay(stand)), 60_000);
      assert.match(said(stand, "FailedScheduling").join(), /PodGroup ray-cluster is not admitted/);
    });

    it("pods that come after their group was told are told, each once", async (stand) => {
      await stand.create(home);
      await stand.host({ gang });
      await stand.create(group);
      await stand.create(pod("first", "volcano", "ray-cluster"));
      const told = (): readonly string[] =>
        stand
          .all("Event")
          .filter(({ reason }) => reason === "FailedScheduling")
          .map((event) => `${fieldsOf(event["involvedObject"])["name"]}`)
          .toSorted();
      await stand.until("the first is told", () => told().length === 1 && missing.test(groupsSay(stand)), 90_000);
      await stand.create(pod("second", "volcano", "ray-cluster"));
      await stand.until("the second is told", () => told().length === 2, 90_000);
      const later = Array.from({ length: 12 }, (_, at) => `third-${at}`);
      for (const name of later) await stand.create(pod(name, "volcano", "ray-cluster"));
      await stand.until("the others are told", () => told().length === 14, 90_000);
      const versions = (): string =>
        stand
          .all("PodGroup")
          .map(({ metadata }) => metadata.resourceVersion)
          .join();
      await stand.turn(60_000);
      const before = versions();
      await stand.turn(300_000);
      assert.deepEqual(told(), ["first", "second", ...later].toSorted());
      assert.equal(versions(), before);
    });

    it("a group of others whose pods name another scheduler is admitted", async (stand) => {
      await stand.create(home);
      await stand.host({ gang });
      await stand.create(group);
      await stand.create(pod("head", "default-scheduler", "ray-cluster"));
      await stand.until("it is admitted", () => groupsSay(stand).startsWith("Inqueue"), 90_000);
    });
  });
