/**
 * Kueue's integration of SparkApplications: the fields that its webhook sets on creation, the strict merge patch that
 * starts a job with the flavour's node selectors, the one that stops it, and the status that it reads
 * (`pkg/controller/jobs/sparkapplication`, `pkg/util/client`).
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj } from "../../../../shared/core/object.ts";
import { crds } from "../../../support/crds.ts";
import { withManagedBy } from "../../../support/managed-by.ts";
import { application } from "../objects.ts";
import { itOnStand, type Stand } from "../stand.ts";
import { answer, type Fault } from "../way.ts";
import { applications, pods, submissionsIn, toolOn, within } from "./client.ts";

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

/** Each creation of the driver is refused. */
const driverRefused: Fault = ({ method, path, body }) =>
  method === "POST" && path === pods && body?.includes("app-driver")
    ? answer(422, "Invalid", "Pod is invalid")
    : undefined;

/** The gate of another controller, which Kueue adds to both templates. */
const gates = [{ name: "kueue.x-k8s.io/topology" }];

/** As `starting`, with annotations and a scheduling gate. */
const gating = (flavour: string) => {
  const { suspend, driver, executor } = starting(flavour);
  const gated = ({ template, ...role }: typeof driver) => ({
    ...role,
    annotations: { "kueue.x-k8s.io/workload": "app" },
    template: { ...template, spec: { ...template.spec, schedulingGates: gates } },
  });
  return { suspend, driver: gated(driver), executor: gated(executor) };
};

const executorsOf = (stand: Stand) =>
  stand.all("Pod").filter(({ metadata }) => metadata.labels?.["spark-role"] === "executor");

const assertPlaced = (pod: Obj | undefined, podSet: string): void => {
  assert.deepEqual(within(pod, "spec", "schedulingGates"), gates);
  assert.deepEqual(within(pod, "spec", "nodeSelector"), nodes);
  assert.match(JSON.stringify(within(pod, "spec", "tolerations")), /"key":"spot"/);
  assert.equal(pod?.metadata.labels?.["kueue.x-k8s.io/podset"], podSet);
  assert.equal(pod?.metadata.labels?.["kueue.x-k8s.io/queue-name"], undefined);
  assert.equal(pod?.metadata.annotations?.["kueue.x-k8s.io/workload"], "app");
};

/** Removes the gates of a pod, as Kueue's topology ungater. */
const open = async (stand: Stand, name: string): Promise<void> => {
  const body = { spec: { schedulingGates: null } };
  const { status } = await toolOn(
    stand,
    agent,
  )({ method: "PATCH", path: `${pods}/${name}`, type: "application/merge-patch+json", body });
  assert.equal(status, 200);
};

/** An application whose refused submissions are tried again. */
const retried = (name: string, labels: Readonly<Record<string, string>>): Obj =>
  application(name, {
    labels,
    spec: {
      suspend: true,
      restartPolicy: { type: "OnFailure", onSubmissionFailureRetries: 3, onSubmissionFailureRetryInterval: 20 },
    },
  });

/** Collects every state that the status shows. */
const statesOf = (stand: Stand): (() => ReadonlySet<unknown>) => {
  const seen = new Set<unknown>();
  stand.simulator.subscribe((change) => seen.add(within(change.object, "status", "applicationState", "state")));
  return () => seen;
};

const it = itOnStand({ scripts: { app: [{ jobMs: 20_000 }] }, nodes: [{ name: "n1", labels: nodes }] });

describe("Kueue", () => {
  it("creates it suspended without a pod, and one patch with node selectors starts one run on these nodes", async (stand) => {
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
  });

  itOnStand({ scripts: { app: [{ hangs: true }] } })(
    "counts the pods as ready by the status: RUNNING, with all requested executors RUNNING",
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
  );

  itOnStand({ scripts: { app: [{ hangs: true }] }, nodes: [{ name: "n1", labels: nodes }] })(
    "preempts by one patch, so that its pods go and it is inactive, and readmits it for one more run",
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
  );

  itOnStand()("gets a refusal for a patch of an old version, and nothing starts", async (stand) => {
    await stand.host();
    await stand.create(admitted("app"));
    const old = String(within((await read(stand)).body, "metadata", "resourceVersion"));
    await stand.until("it is suspended", () => state(stand) === "SUSPENDED");
    assert.equal((await patched(stand, starting("spot"), old)).status, 409);
    await stand.turn(30_000);
    assert.equal(stand.all("Pod").length, 0);
  });

  for (const executors of ["assist", "own"])
    it(`places what it gives both roles on their pods, and its gates hold them, with executors in mode ${executors}`, async (stand) => {
      await stand.host();
      const made = admitted("app");
      const annotations = { "rekindle.dev/executors": executors };
      await stand.create({ ...made, metadata: { ...made.metadata, annotations } });
      await stand.until("it is suspended", () => state(stand) === "SUSPENDED");
      assert.equal((await patched(stand, gating("spot"))).status, 200);
      await stand.until("the driver pod exists", () => driver(stand) !== undefined);
      await stand.turn(60_000);
      assert.notEqual(state(stand), "RUNNING");
      assertPlaced(driver(stand), "spark-kubernetes-driver");
      await open(stand, "app-driver");
      await stand.until("it runs", () => state(stand) === "RUNNING");
      await stand.until("an executor exists", () => executorsOf(stand).length === 1);
      const [executor] = executorsOf(stand);
      assertPlaced(executor, "spark-kubernetes-executor");
      await open(stand, executor?.metadata.name ?? "");
      await stand.until("it has completed", () => state(stand) === "COMPLETED");
      assert.equal(within(stand.get("SparkApplication", "app"), "status", "executionAttempts"), 1);
    });

  it("does not take a refused submission for the end while it is to be tried again", async (stand) => {
    const seen = statesOf(stand);
    await stand.host();
    await stand.create(retried("app", queue));
    await stand.until("it is suspended", () => seen().has("SUSPENDED"));
    stand.fault(driverRefused);
    await patched(stand, starting("spot"));
    await stand.until("it waits for the next submission", () => seen().has("PENDING_RERUN"));
    assert.match(
      String(within(stand.get("SparkApplication", "app"), "status", "applicationState", "errorMessage")),
      /Pod is invalid/,
    );
    stand.fault(undefined);
    await stand.until("it has completed", () => seen().has("COMPLETED"));
    assert.ok(!seen().has("SUBMISSION_FAILED"), [...seen()].join(" "));
  });

  itOnStand()("takes a refused submission for the end when it is not tried again", async (stand) => {
    const seen = statesOf(stand);
    await stand.host();
    await stand.create(admitted("app"));
    await stand.until("it is suspended", () => seen().has("SUSPENDED"));
    stand.fault(driverRefused);
    await patched(stand, starting("spot"));
    await stand.until("it has failed", () => seen().has("FAILED"));
  });

  itOnStand()("is not there: the state of a refused submission is upstream's", async (stand) => {
    const seen = statesOf(stand);
    await stand.host();
    stand.fault(driverRefused);
    const made = retried("app", {});
    await stand.create({ ...made, spec: { ...Object(made["spec"]), suspend: false } });
    await stand.until("its submission has failed", () => seen().has("SUBMISSION_FAILED"));
  });

  itOnStand({ crds: crds.map(withManagedBy) })(
    "has an application to itself whose spec.managedBy names MultiKueue, where the CRD has the field",
    async (stand) => {
      await stand.host();
      await stand.create(application("app", { labels: queue, spec: { managedBy: "kueue.x-k8s.io/multikueue" } }));
      const task = {
        name: "t",
        replicas: 1,
        template: { spec: { containers: [{ name: "main", image: "busybox" }] } },
      };
      await stand.create({
        ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name: "job", namespace: "default" } },
        spec: { minAvailable: 1, tasks: [task], managedBy: "kueue.x-k8s.io/multikueue" },
      });
      await stand.create(application("own", { spec: { managedBy: "sparkoperator.k8s.io/spark-operator" } }));
      await stand.turn(60_000);
      assert.equal(stand.get("SparkApplication", "app")?.["status"], undefined);
      assert.deepEqual(
        stand.all("Checkpoint").map(({ metadata }) => metadata.name),
        ["sparkapplication.own"],
      );
      assert.equal(driver(stand), undefined);
      assert.equal(stand.all("PodGroup").length, 0);
      const told = stand.all("Event").filter((event) => event["reason"] === "ManagedByOther");
      assert.equal(told.length, 2);
      assert.equal(stand.get("Pod", "own-driver")?.metadata.name, "own-driver");
    },
  );
});
