/**
 * Kueue's integration of SparkApplications: the fields that its webhook sets on creation, the strict merge patch that
 * starts a job with the flavour's node selectors, the one that stops it, and the status that it reads
 * (`pkg/controller/jobs/sparkapplication`, `pkg/util/client`).
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { application } from "../objects.ts";
import { onStand, type Stand } from "../stand.ts";
import { applications, submissionsIn, toolOn, within } from "./client.ts";

const agent = "kueue/v0.15.0";
const queue = { "kueue.x-k8s.io/queue-name": "team-a" };

/** Returns a new application as Kueue's mutating webhook leaves it. */
const admitted = (name: string) => application(name, { labels: queue, spec: { suspend: true } });

const read = (stand: Stand): Promise<{ readonly body: unknown }> =>
  toolOn(stand, agent)({ method: "GET", path: `${applications}/app` });

/** Strict mode: the patch carries the resourceVersion that was read. */
const patched = async (stand: Stand, spec: unknown, version?: string) => {
  const resourceVersion = version ?? within((await read(stand)).body, "metadata", "resourceVersion");
  return toolOn(
    stand,
    agent,
  )({
    method: "PATCH",
    path: `${applications}/app`,
    query: { fieldManager: "kueue" },
    type: "application/merge-patch+json",
    body: { metadata: { resourceVersion }, spec },
  });
};

/** `RunWithPodSetsInfo`: both roles in one patch, with a template where there was none. */
const starting = (flavour: string) => {
  const role = (container: string) => ({
    labels: { "kueue.x-k8s.io/podset": container },
    nodeSelector: { "cloud.example/flavour": flavour },
    template: { metadata: { creationTimestamp: null }, spec: { containers: [{ name: container, resources: {} }] } },
    tolerations: [{ key: "spot", operator: "Exists", effect: "NoSchedule" }],
  });
  return { suspend: false, driver: role("spark-kubernetes-driver"), executor: role("spark-kubernetes-executor") };
};

/** `RestorePodSetsInfo`: the added fields are removed, together with the suspension. */
const stopping = {
  suspend: true,
  driver: { labels: null, nodeSelector: null, tolerations: null },
  executor: { labels: null, nodeSelector: null, tolerations: null, instances: 1 },
};

const state = (stand: Stand): unknown =>
  within(stand.get("SparkApplication", "app"), "status", "applicationState", "state");

const driver = (stand: Stand) => stand.get("Pod", "app-driver");

const nodes = { "cloud.example/flavour": "spot" };

describe("Kueue", () => {
  it(
    "creates it suspended without a pod, and one patch with node selectors starts one run on these nodes",
    onStand(
      async (stand) => {
        await stand.host();
        await stand.create(admitted("app"));
        await stand.until("it is suspended", () => state(stand) === "SUSPENDED");
        await stand.turn(60_000);
        assert.equal(stand.all("Pod").length, 0);
        assert.equal((await patched(stand, starting("spot"))).status, 200);
        await stand.until("it runs", () => state(stand) === "RUNNING");
        assert.deepEqual(within(driver(stand), "spec", "nodeSelector"), nodes);
        assert.match(JSON.stringify(within(driver(stand), "spec", "tolerations")), /"key":"spot"/);
        assert.equal(driver(stand)?.metadata.labels?.["kueue.x-k8s.io/podset"], "spark-kubernetes-driver");
        assert.equal(driver(stand)?.metadata.labels?.["kueue.x-k8s.io/queue-name"], undefined);
        await stand.until("it has completed", () => state(stand) === "COMPLETED");
        await stand.turn(120_000);
        const { body } = await read(stand);
        assert.equal(within(body, "status", "executionAttempts"), 1);
        assert.equal(within(body, "status", "submissionAttempts"), 1);
        assert.equal(submissionsIn(stand), 1);
      },
      { scripts: { app: [{ jobMs: 20_000 }] }, nodes: [{ name: "n1", labels: nodes }] },
    ),
  );

  it(
    "counts the pods as ready by the status: RUNNING, with all requested executors RUNNING",
    onStand(
      async (stand) => {
        await stand.host();
        await stand.create(admitted("app"));
        await stand.until("it is suspended", () => state(stand) === "SUSPENDED");
        await patched(stand, { suspend: false });
        const ready = (): boolean => {
          const states = within(stand.get("SparkApplication", "app"), "status", "executorState");
          return (
            state(stand) === "RUNNING" && Object.values(Object(states)).filter((each) => each === "RUNNING").length >= 1
          );
        };
        await stand.until("it is ready", ready);
      },
      { scripts: { app: [{ hangs: true }] } },
    ),
  );

  it(
    "preempts by one patch, so that its pods go and it is inactive, and readmits it for one more run",
    onStand(
      async (stand) => {
        await stand.host();
        await stand.create(admitted("app"));
        await stand.until("it is suspended", () => state(stand) === "SUSPENDED");
        await patched(stand, starting("spot"));
        await stand.until("it runs", () => state(stand) === "RUNNING");
        assert.equal((await patched(stand, stopping)).status, 200);
        await stand.until("it is inactive", () => state(stand) !== "RUNNING", 10_000);
        await stand.until("it is suspended", () => state(stand) === "SUSPENDED" && stand.all("Pod").length === 0);
        await stand.turn(60_000);
        assert.equal(submissionsIn(stand), 1);
        await patched(stand, starting("spot"));
        await stand.until("it runs again", () => state(stand) === "RUNNING");
        assert.equal(submissionsIn(stand), 2);
      },
      { scripts: { app: [{ hangs: true }] }, nodes: [{ name: "n1", labels: nodes }] },
    ),
  );

  it(
    "gets a refusal for a patch of an old version, and nothing starts",
    onStand(async (stand) => {
      await stand.host();
      await stand.create(admitted("app"));
      const old = String(within((await read(stand)).body, "metadata", "resourceVersion"));
      await stand.until("it is suspended", () => state(stand) === "SUSPENDED");
      assert.equal((await patched(stand, starting("spot"), old)).status, 409);
      await stand.turn(30_000);
      assert.equal(stand.all("Pod").length, 0);
    }),
  );
});
