/**
 * The tools around on a real cluster, each under a user's account with its own rights, beside a host under the shipped
 * one: Kueue's patches, Airflow's and Argo's calls, the real `kubectl wait`, and our own built command line.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, openApi } from "../cluster/api.ts";
import { rekindle } from "./installed.ts";
import { type Case, kubectl, must, onlyOneDriver, pi, running, type Scene } from "./scene.ts";
import { awaitState, observe, read, stateOf } from "./witness.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
const pods = "/api/v1/namespaces/default/pods";

/** What the admin of a team gives its tools: nothing of it is Rekindle's. */
const rights = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: tool, namespace: default }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: tool, namespace: default }
rules:
  - apiGroups: [sparkoperator.k8s.io]
    resources: [sparkapplications]
    verbs: [get, list, watch, create, patch, update, delete]
  - apiGroups: [sparkoperator.k8s.io]
    resources: [sparkapplications/status]
    verbs: [get]
  - apiGroups: [rekindle.dev]
    resources: [checkpoints]
    verbs: [get, list]
  - apiGroups: [""]
    resources: [pods, events]
    verbs: [get, list, watch, patch]
  - apiGroups: [""]
    resources: [pods/log, pods/proxy]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: tool, namespace: default }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: tool }
subjects: [{ kind: ServiceAccount, name: tool, namespace: default }]
`;

type Tool = { readonly api: Api; readonly kubeconfig: string };

/** The account of the tools; asked for again it is the same. */
const toolOn = async ({ cluster }: Scene): Promise<Tool> => {
  const { code, stderr } = await cluster.kubectl(["apply", "-f", "-"], { input: rights });
  must(code === 0, `the tools' rights: ${stderr}`);
  const kubeconfig = await cluster.kubeconfigOf("default", "tool");
  return { api: await openApi(kubeconfig), kubeconfig };
};

const bodyOf = (name: string, slices: number, spec: Readonly<Record<string, unknown>> = {}) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: {
    ...{ type: "Scala", mode: "cluster", sparkVersion: "4.1.1", image: "docker.io/apache/spark:4.1.1" },
    mainClass: "org.apache.spark.examples.SparkPi",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
    ...{ arguments: [String(slices)], restartPolicy: { type: "Never" } },
    driver: { cores: 1, memory: "512m", serviceAccount: "spark" },
    executor: { instances: 1, cores: 1, memory: "512m" },
    ...spec,
  },
});

const created = async ({ api }: Tool, body: ReturnType<typeof bodyOf>, query = ""): Promise<void> => {
  const reply = await api.call("POST", `${applications}${query}`, body);
  must(reply.status === 201, `${body.metadata.name} is not created: ${JSON.stringify(reply.body)}`);
};

const merge = "application/merge-patch+json";

/** Created suspended, started by one strict patch of node selectors and suspend=false. */
const kueue: Case = {
  name: "Kueue: created suspended; node selectors and suspend=false in one patch are one run",
  run: (scene) =>
    running(scene, async () => {
      const tool = await toolOn(scene);
      const name = "kueued";
      await created(tool, bodyOf(name, 10, { suspend: true }));
      await awaitState(scene.cluster.api, name, ["SUSPENDED"], 60_000);
      const witness = observe(scene.cluster.api, name);
      try {
        await sleep(2_000);
        must(witness.drivers().size === 0, "a suspended application has a driver");
        const { body } = await tool.api.call("GET", `${applications}/${name}`);
        const { resourceVersion } = Object(body).metadata;
        const role = (container: string) => ({
          nodeSelector: { "kubernetes.io/os": "linux" },
          template: { spec: { containers: [{ name: container, resources: {} }] } },
        });
        const spec = {
          ...{ suspend: false, driver: role("spark-kubernetes-driver"), executor: role("spark-kubernetes-executor") },
        };
        const patch = { metadata: { resourceVersion }, spec };
        const reply = await tool.api.call("PATCH", `${applications}/${name}?fieldManager=kueue`, patch, merge);
        must(reply.status === 200, `the patch was answered ${reply.status}`);
        const app = await awaitState(scene.cluster.api, name, ["COMPLETED", "FAILED"], 120_000);
        must(stateOf(app) === "COMPLETED", `ended ${stateOf(app)}: ${JSON.stringify(app.status)}`);
        must(app.status?.submissionAttempts === 1, `${app.status?.submissionAttempts} submissions`);
        onlyOneDriver(witness, 1);
        const driver = await tool.api.call("GET", `${pods}/${name}-driver`);
        must(
          Object(driver.body).spec?.nodeSelector?.["kubernetes.io/os"] === "linux",
          "the driver has no node selector",
        );
        return [witness.states().join(" → ")];
      } finally {
        await witness.stop();
        tool.api.close();
      }
    }),
};

/** Both real, both under the user's account: the wait begins before the application has any status. */
const waited: Case = {
  name: "kubectl wait --for=jsonpath: until it has completed, and until it is deleted",
  run: (scene) =>
    running(scene, async () => {
      const tool = await toolOn(scene);
      const { kubeconfig } = tool;
      const wait = (condition: string) =>
        scene.cluster.kubectl(["wait", `--for=${condition}`, "sparkapplication/waited", "--timeout=120s"], {
          kubeconfig,
        });
      await created(
        tool,
        bodyOf("waited", 10, { timeToLiveSeconds: 5 }),
        "?fieldManager=kubectl-create&fieldValidation=Strict",
      );
      const gone = wait("delete");
      const done = await wait("jsonpath={.status.applicationState.state}=COMPLETED");
      must(done.code === 0, `wait for COMPLETED: ${done.stderr}`);
      const ended = await gone;
      must(ended.code === 0, `wait for deletion: ${ended.stderr}`);
      tool.api.close();
      return [done.stdout.trim(), ended.stdout.trim()];
    }),
};

/** The operator's calls, in their order: create, state, the driver by name, its log, its mark, deletion. */
const airflow: Case = {
  name: "Airflow: creates, finds the driver by the task's labels, reads its log, deletes",
  run: (scene) =>
    running(scene, async () => {
      const tool = await toolOn(scene);
      const { api } = tool;
      const labels = { dag_id: "pi", task_id: "compute", run_id: "manual", spark_kubernetes_operator: "True" };
      const both = { labels, cores: 1, memory: "512m", env: [], envFrom: [], volumeMounts: [], tolerations: [] };
      const roles = { driver: { ...both, serviceAccount: "spark" }, executor: { ...both, instances: 1 } };
      await created(tool, bodyOf("compute-x1", 10, { ...roles, labels, volumes: [] }));
      const done = (state: string): boolean => state !== "" && state !== "SUBMITTED";
      await api.until(
        `${applications}/compute-x1/status`,
        ({ body }) => done(Object(body).status?.applicationState?.state ?? ""),
        120_000,
      );
      const selector = [...Object.entries(labels).map(([key, value]) => `${key}=${value}`), "already_checked!=True"];
      const query = encodeURIComponent(`${selector.join(",")},!airflow-worker,spark-role=driver`);
      const { body } = await api.call("GET", `${pods}?labelSelector=${query}`);
      must(Object(body).items?.length === 1, `${Object(body).items?.length} drivers with the task's labels`);
      await api.until(
        `${pods}/compute-x1-driver`,
        (reply) => Object(reply.body).status?.phase === "Succeeded",
        120_000,
      );
      const log = await api.call(
        "GET",
        `${pods}/compute-x1-driver/log?container=spark-kubernetes-driver&timestamps=true`,
      );
      must(pi.test(String(log.body)), "its log does not say that Pi is roughly 3");
      const mark = { metadata: { labels: { already_checked: "True" } } };
      const marked = await api.call(
        "PATCH",
        `${pods}/compute-x1-driver`,
        mark,
        "application/strategic-merge-patch+json",
      );
      must(marked.status === 200, `the mark was answered ${marked.status}`);
      await awaitState(scene.cluster.api, "compute-x1", ["COMPLETED"], 30_000);
      const deleted = await api.call("DELETE", `${applications}/compute-x1`);
      must(deleted.status === 200, `the deletion was answered ${deleted.status}`);
      await api.until(`${pods}/compute-x1-driver`, ({ status }) => status === 404, 60_000);
      api.close();
      return ["created, found, read, marked, deleted"];
    }),
};

/** Ours, built: what a user types from submission to deletion. */
const ours: Case = {
  name: "rekindle submit --watch, log, event, status, delete --wait, built, under a user's account",
  run: (scene) =>
    running(scene, async () => {
      const tool = await toolOn(scene);
      const at = ["--kubeconfig", tool.kubeconfig, "-n", "default"];
      const file = join(scene.hostLog, "..", "defaults.conf");
      await writeFile(file, "spark.driver.memory 512m\nspark.executor.memory 512m\n");
      const submitted = await rekindle([
        ...["submit", ...at, "--application", "typed", "--class", "org.apache.spark.examples.SparkPi"],
        ...["--image", "docker.io/apache/spark:4.1.1", "--service-account", "spark", "--num-executors", "1"],
        ...["--properties-file", file, "--watch", "--timeout", "3m"],
        ...["local:///opt/spark/examples/jars/spark-examples.jar", "10"],
      ]);
      must(pi.test(submitted) && submitted.includes("COMPLETED"), `submit --watch said: ${submitted.slice(-500)}`);
      const app = await read(scene.cluster.api, "typed");
      must(app.status?.executionAttempts === 1, "ran more than once");
      const log = await rekindle(["log", ...at, "typed", "--tail", "20"]);
      const events = await rekindle(["event", ...at, "typed"]);
      must(/SparkApplicationSubmitted/.test(events), `event said: ${events}`);
      const status = await rekindle(["status", ...at, "typed"]);
      const removed = await rekindle(["delete", ...at, "typed", "--wait"]);
      must(log !== "" && removed.includes("deleted"), `delete said: ${removed}`);
      const left = await kubectl(scene.cluster, [
        "get",
        "pods",
        "-l",
        "sparkoperator.k8s.io/app-name=typed",
        "-o",
        "name",
      ]);
      must(left === "", `left: ${left}`);
      tool.api.close();
      return [status.split("\n")[0] ?? ""];
    }),
};

/** All of them. */
export const tools: readonly Case[] = [kueue, waited, airflow, ours];
