/** The queue that a namespace names for its groups is applied without admission, too. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { at, home, volcanoJob } from "./objects.ts";
import { itOnStand, phaseOf, type Stand } from "./stand.ts";

const namespace: Obj = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "team", annotations: { "scheduling.volcano.sh/queue-name": "q29" } },
};

const queue: Obj = {
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name: "q29" },
  spec: {},
};

const inTeam = (object: Obj): Obj => ({ ...object, metadata: { ...object.metadata, namespace: "team" } });

const bare: Obj = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "bare", namespace: "team" },
  spec: { schedulerName: "volcano", containers: [{ name: "main", image: "busybox" }] },
};

const queuesOf = (stand: Stand): string =>
  stand
    .all("PodGroup")
    .map((group) => String(at(group, "spec", "queue")))
    .join();

const it = itOnStand();

describe("the queue that a namespace names", () => {
  for (const gang of ["auto", "builtin"] as const)
    it(`gets the group of a job, with gang ${gang}`, async (stand) => {
      await stand.create(home);
      await stand.create(namespace);
      await stand.create(queue);
      await stand.host({ gang });
      await stand.create(inTeam(volcanoJob("pair", { runMs: 60_000 }, { plugins: {} })));
      await stand.until(
        "it runs",
        () => stand.get("Job", "pair", "team") !== undefined && queuesOf(stand) === "q29",
        60_000,
      );
      await stand.create(volcanoJob("other", { runMs: 60_000 }, { plugins: {} }));
      await stand.until("another runs", () => phaseOf(stand, "other") === "Running", 60_000);
      assert.deepEqual(queuesOf(stand).split(",").sort(), ["default", "q29"]);
    });

  it("gets the group of a bare pod", async (stand) => {
    await stand.create(home);
    await stand.create(namespace);
    await stand.create(queue);
    await stand.host();
    await stand.create(bare);
    await stand.until("its group is there", () => queuesOf(stand) === "q29", 90_000);
  });
});
