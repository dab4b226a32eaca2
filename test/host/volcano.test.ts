/** Volcano jobs under a host: from `kubectl apply` to their end, beside a stand-in for the scheduler that lets groups in. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Stored } from "../../shared/core/object.ts";
import { isRecord } from "../../shared/kube/answers.ts";
import { queue, volcanoJob } from "./objects.ts";
import { onStand, type Stand } from "./stand.ts";

const schedulers = { schedulers: ["default-scheduler", "volcano"] } as const;

/** Lets every group in, as Volcano's scheduler does when there is room. */
const admitting = async (stand: Stand): Promise<void> => {
  await stand.create(queue);
  stand.simulator.subscribe(({ type, table, object }) => {
    if (type !== "ADDED" || table !== "podgroups.scheduling.volcano.sh") return;
    void stand.patch("PodGroup", object.metadata.name, { status: { phase: "Inqueue" } });
  });
};

const at = (object: Stored | undefined, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), object?.["status"]);

const phaseOf = (stand: Stand, name: string): unknown => at(stand.get("Job", name), "state", "phase");

describe("a Volcano job under a host", () => {
  it(
    "runs to its end, and nothing is left of it but what it was",
    onStand(async (stand) => {
      await admitting(stand);
      await stand.host();
      await stand.create(volcanoJob("pair", { runMs: 5_000 }));
      await stand.until("it runs", () => phaseOf(stand, "pair") === "Running", 30_000);
      assert.match(JSON.stringify(stand.get("Secret", "pair-ssh")), /"id_rsa":"bWluZQ=="/);
      await stand.until("it is complete", () => phaseOf(stand, "pair") === "Completed", 60_000);
      await stand.turn(30_000);
      assert.equal(at(stand.get("Job", "pair"), "succeeded"), 2);
      assert.deepEqual([stand.all("PodGroup"), stand.all("Secret"), stand.all("Service")], [[], [], []]);
      const written = stand.writes().length;
      await stand.pass(0.5);
      assert.equal(stand.writes().length, written);
      assert.deepEqual(
        stand.lines.filter(({ level }) => level === "error"),
        [],
      );
    }, schedulers),
  );

  it(
    "is restarted when a pod fails, and keeps what its pods share",
    onStand(async (stand) => {
      await admitting(stand);
      await stand.host();
      const policies = [{ event: "PodFailed", action: "RestartJob" }];
      await stand.create(volcanoJob("pair", {}, { policies }));
      await stand.until("it runs", () => phaseOf(stand, "pair") === "Running", 30_000);
      const before = stand.get("Secret", "pair-ssh")?.metadata.uid;
      stand.simulator.killPod("default", "pair-worker-1", { code: 3 });
      await stand.until("it restarts", () => phaseOf(stand, "pair") === "Restarting", 30_000);
      await stand.until("it runs again", () => phaseOf(stand, "pair") === "Running", 60_000);
      assert.deepEqual([at(stand.get("Job", "pair"), "version"), at(stand.get("Job", "pair"), "retryCount")], [1, 1]);
      assert.equal(stand.get("Secret", "pair-ssh")?.metadata.uid, before);
    }, schedulers),
  );

  it(
    "is told what is wrong with it, and harms no other",
    onStand(async (stand) => {
      await admitting(stand);
      await stand.host();
      await stand.create(volcanoJob("bad", {}, { plugins: { magic: [] } }));
      await stand.create(volcanoJob("good", { runMs: 1_000 }));
      await stand.until("the other is complete", () => phaseOf(stand, "good") === "Completed", 60_000);
      assert.match(String(at(stand.get("Job", "bad"), "state", "message")), /unable to find job plugin: magic/);
    }, schedulers),
  );
});
