/**
 * Airflow's SparkKubernetesOperator and SparkKubernetesSensor (provider cncf.kubernetes): the calls of
 * `custom_object_launcher.py`, `spark_kubernetes.py` and `pod_manager.py`, in their order.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { itOnStand, type Stand } from "../stand.ts";
import { applications, itemsOf, leftOf, pods, type Tool, toolOn, within } from "./client.ts";

const agent = "OpenAPI-Generator/33.1.0/python";

/** The labels by which the operator finds both pods again. */
const context = {
  ...{ dag_id: "pipeline", task_id: "transform", run_id: "manual__2026-11-02T0800000000-4e2c0f1a9" },
  ...{ spark_kubernetes_operator: "True", try_number: "1" },
};

const selector = [
  ...["dag_id", "run_id", "spark_kubernetes_operator", "task_id"].map((key) => `${key}=${Reflect.get(context, key)}`),
  ...["already_checked!=True", "!airflow-worker", "spark-role=driver"],
].join(",");

/**
 * Returns the body as the launcher completes it from a template with a `kubernetes` part: every list is present, most
 * are empty.
 */
const bodyOf = (name: string) => {
  const both = {
    ...{ env: [{ name: "STAGE", value: "test" }], envFrom: [], volumeMounts: [] },
    ...{ affinity: {}, tolerations: [], nodeSelector: {}, labels: context },
    ...{ cores: 1, memory: "365m", coreLimit: "1" },
  };
  return {
    apiVersion: "sparkoperator.k8s.io/v1beta2",
    kind: "SparkApplication",
    metadata: { name, namespace: "default" },
    spec: {
      ...{ type: "Scala", mode: "cluster", sparkVersion: "4.1.1", image: "apache/spark:4.1.1" },
      ...{ mainClass: "org.example.Main", mainApplicationFile: "local:///opt/app.jar" },
      // No field of a SparkApplication: the server drops it.
      labels: context,
      volumes: [],
      restartPolicy: { type: "Never" },
      driver: both,
      executor: { ...both, instances: 1 },
    },
  };
};

const stateIn = (stand: Stand, name: string): unknown =>
  within(stand.get("SparkApplication", name), "status", "applicationState", "state");

const create = (airflow: Tool, name: string) => airflow({ method: "POST", path: applications, body: bodyOf(name) });

/** `spark_job_not_running`: without a state it counts as submitted; FAILED raises with the message. */
const stateSeen = async (airflow: Tool, name: string): Promise<string> => {
  const { body } = await airflow({ method: "GET", path: `${applications}/${name}/status` });
  const state = within(body, "status", "applicationState", "state") ?? "SUBMITTED";
  if (state === "FAILED")
    throw new Error(`Spark Job Failed: ${within(body, "status", "applicationState", "errorMessage")}`);
  return String(state);
};

/** `start_spark_job` waits ten seconds between reads, and gives up after ten minutes. */
const started = async (stand: Stand, airflow: Tool, name: string): Promise<void> => {
  for (let looks = 0; (await stateSeen(airflow, name)) === "SUBMITTED"; looks++) {
    assert.ok(looks < 60, "Job took too long to start");
    await stand.turn(10_000);
  }
};

/** `await_pod_completion`: the driver is read by the name that the operator assumes. */
const phaseAtEnd = async (stand: Stand, airflow: Tool, name: string): Promise<unknown> => {
  for (let looks = 0; looks < 300; looks++) {
    const phase = within((await airflow({ method: "GET", path: `${pods}/${name}-driver` })).body, "status", "phase");
    if (phase === "Succeeded" || phase === "Failed") return phase;
    await stand.turn(2_000);
  }
  return undefined;
};

const found = async (airflow: Tool): Promise<number> =>
  itemsOf(await airflow({ method: "GET", path: pods, query: { labelSelector: selector } })).length;

const marked = (airflow: Tool, name: string) =>
  airflow({
    method: "PATCH",
    path: `${pods}/${name}-driver`,
    type: "application/strategic-merge-patch+json",
    body: { metadata: { labels: { already_checked: "True" } } },
  });

const it = itOnStand({ scripts: { "*": [{ hangs: true }] } });

describe("Airflow's SparkKubernetesOperator", () => {
  itOnStand({ scripts: { "*": [{ jobMs: 30_000 }] } })(
    "creates, waits, reads the driver's log, marks its pod and deletes: one run, and no object is left",
    async (stand) => {
      await stand.host();
      const airflow = toolOn(stand, agent);
      const made = await create(airflow, "transform-x1y2z3a4");
      assert.equal(made.status, 201, made.text);
      assert.equal(within(made.body, "spec", "labels"), undefined);
      await started(stand, airflow, "transform-x1y2z3a4");
      assert.equal(await phaseAtEnd(stand, airflow, "transform-x1y2z3a4"), "Succeeded");
      const query = { container: "spark-kubernetes-driver", timestamps: "true" };
      const log = await airflow({ method: "GET", path: `${pods}/transform-x1y2z3a4-driver/log`, query });
      assert.match(log.text, /^\d{4}-\S+Z INFO SparkContext: Running Spark\n[\s\S]*Pi is roughly/);
      assert.equal(await found(airflow), 1);
      const before = stand.writes().length;
      assert.equal((await marked(airflow, "transform-x1y2z3a4")).status, 200);
      assert.equal(await found(airflow), 0);
      await stand.until("it has completed", () => stateIn(stand, "transform-x1y2z3a4") === "COMPLETED");
      await stand.turn(60_000);
      assert.ok(
        stand
          .writes()
          .slice(before)
          .every((line) => !line.includes("/pods")),
        "a label is no news",
      );
      const gone = await airflow({ method: "DELETE", path: `${applications}/transform-x1y2z3a4` });
      assert.equal(gone.status, 200);
      await stand.until("its pods are gone", () => stand.all("Pod").length === 0);
      assert.equal((await airflow({ method: "DELETE", path: `${applications}/transform-x1y2z3a4` })).status, 404);
    },
  );

  it("finds the driver by labels of the task after its worker has died", async (stand) => {
    await stand.host();
    const airflow = toolOn(stand, agent);
    await create(airflow, "transform-a");
    await started(stand, airflow, "transform-a");
    const pod = itemsOf(await airflow({ method: "GET", path: pods, query: { labelSelector: selector } }));
    assert.deepEqual(
      pod.map((each) => within(each, "metadata", "name")),
      ["transform-a-driver"],
    );
  });

  it("gets 409 for a name that is taken, and a killed task leaves no object", async (stand) => {
    await stand.host();
    const airflow = toolOn(stand, agent);
    await create(airflow, "transform-b");
    assert.equal((await create(airflow, "transform-b")).status, 409);
    await started(stand, airflow, "transform-b");
    await airflow({ method: "DELETE", path: `${applications}/transform-b` });
    await stand.until("all is gone", () => leftOf(stand, "transform-b").length === 0);
  });

  itOnStand({ scripts: { "*": [{ jobMs: 5_000, exitCode: 7 }] } })(
    "gets from the status why a run failed, and its sensor gets it from the same state",
    async (stand) => {
      await stand.host();
      const airflow = toolOn(stand, agent);
      await create(airflow, "transform-c");
      const ended = async (): Promise<void> => {
        for (let looks = 0; looks < 100; looks++) {
          await stateSeen(airflow, "transform-c");
          await stand.turn(10_000);
        }
      };
      await assert.rejects(ended(), /Spark Job Failed: driver container failed with ExitCode: 7/);
      const { body } = await airflow({ method: "GET", path: `${applications}/transform-c` });
      assert.equal(within(body, "status", "applicationState", "state"), "FAILED");
      assert.equal(within(body, "status", "driverInfo", "podName"), "transform-c-driver");
    },
  );
});
