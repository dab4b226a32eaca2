/**
 * External tools on a real cluster, each under a user's account with its own rights, beside a host under the shipped
 * account: Kueue's patches, the calls of Airflow and Argo, the real `kubectl wait`, and Rekindle's built command line.
 */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sparkPi } from "../../support/pi.ts";
import { type Built, openPackage } from "../../unit/cli/built.ts";
import { type Api, openApi, patienceMs } from "../cluster/api.ts";
import { kueuedJob } from "./kueue/volcano-job.ts";
import { type Case, kubectl, must, onlyOneDriver, pi, running, type Scene } from "./scene.ts";
import { awaitState, observe, read, stateOf } from "./witness.ts";

const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
const pods = "/api/v1/namespaces/default/pods";

/** The rights that the admin of a team grants its tools; none of them belongs to Rekindle. */
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

/** Creates the account of the tools; idempotent. */
const toolOn = async ({ cluster }: Scene): Promise<Tool> => {
  const { code, stderr } = await cluster.kubectl(["apply", "-f", "-"], { input: rights });
  must(code === 0, `the tools' rights: ${stderr}`);
  const kubeconfig = await cluster.kubeconfigOf("default", "tool");
  return { api: await openApi(kubeconfig), kubeconfig };
};

const bodyOf = (name: string, slices: number, spec: Readonly<Record<string, unknown>> = {}) =>
  sparkPi(name, { arguments: [String(slices)], restartPolicy: { type: "Never" }, ...spec });

type Body = ReturnType<typeof bodyOf> & { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } };

const created = async ({ api }: Tool, body: Body, query = ""): Promise<void> => {
  const reply = await api.call("POST", `${applications}${query}`, body);
  must(reply.status === 201, `${body.metadata.name} is not created: ${JSON.stringify(reply.body)}`);
};

const merge = "application/merge-patch+json";

/** The scheduling gate of Kueue's placement in topologies. */
const gate = "kueue.x-k8s.io/topology";

/** The fields that Kueue adds to a role in the patch that starts an application. */
const roleOf = (container: string) => ({
  labels: { "kueue.x-k8s.io/podset": container },
  annotations: { "kueue.x-k8s.io/workload": "kueued" },
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "spot", operator: "Exists", effect: "NoSchedule" }],
  template: { spec: { containers: [{ name: container, resources: {} }], schedulingGates: [{ name: gate }] } },
});

/** Awaits a pod, checks that it has all that its role was given, and opens its gate. */
const openGate = async ({ api }: Tool, role: string, selector: string): Promise<void> => {
  const path = `${pods}?labelSelector=${encodeURIComponent(selector)}`;
  const find = async () =>
    Object((await api.call("GET", path)).body).items?.find((one: unknown) => Object(one).spec?.schedulingGates);
  let pod = await find();
  for (let left = 300; pod === undefined && left > 0; left--) {
    await sleep(200);
    pod = await find();
  }
  must(pod !== undefined, `no gated ${role} came within 60 s`);
  const { metadata, spec } = pod;
  const container = `spark-kubernetes-${role}`;
  must(metadata.labels["kueue.x-k8s.io/podset"] === container, `the ${role} lacks the label`);
  must(metadata.labels["kueue.x-k8s.io/queue-name"] === undefined, `the ${role} has the queue's label`);
  must(metadata.annotations["kueue.x-k8s.io/workload"] === "kueued", `the ${role} lacks the annotation`);
  must(spec.nodeSelector?.["kubernetes.io/os"] === "linux", `the ${role} has no node selector`);
  must(JSON.stringify(spec.tolerations).includes("spot"), `the ${role} lacks the toleration`);
  must(spec.nodeName === undefined, `the gated ${role} has a node`);
  const reply = await api.call("PATCH", `${pods}/${metadata.name}`, { spec: { schedulingGates: null } }, merge);
  must(reply.status === 200, `the gate of the ${role} was not opened: ${reply.status}`);
};

/** Creates an application suspended, and starts it by one strict patch of both roles and suspend=false. */
const kueue: Case = {
  name: "Kueue: created suspended; one patch is one run, and its labels, selectors, tolerations and gates reach the pods",
  run: (scene) =>
    running(scene, async () => {
      const tool = await toolOn(scene);
      const name = "kueued";
      const body = bodyOf(name, 10, { suspend: true });
      const labels = { "kueue.x-k8s.io/queue-name": "team-a" };
      await created(tool, { ...body, metadata: { ...body.metadata, labels } });
      await awaitState(scene.cluster.api, name, ["SUSPENDED"], patienceMs);
      const witness = observe(scene.cluster.api, name);
      try {
        await sleep(2_000);
        must(witness.drivers().size === 0, "a suspended application has a driver");
        const there = await tool.api.call("GET", `${applications}/${name}`);
        const { resourceVersion } = Object(there.body).metadata;
        const roles = { driver: roleOf("spark-kubernetes-driver"), executor: roleOf("spark-kubernetes-executor") };
        const spec = { suspend: false, ...roles };
        const patch = { metadata: { resourceVersion }, spec };
        const reply = await tool.api.call("PATCH", `${applications}/${name}?fieldManager=kueue`, patch, merge);
        must(reply.status === 200, `the patch was answered ${reply.status}`);
        for (const role of ["driver", "executor"])
          await openGate(tool, role, `sparkoperator.k8s.io/app-name=${name},spark-role=${role}`);
        const app = await awaitState(scene.cluster.api, name, ["COMPLETED", "FAILED"], patienceMs);
        must(stateOf(app) === "COMPLETED", `ended ${stateOf(app)}: ${JSON.stringify(app.status)}`);
        must(app.status?.submissionAttempts === 1, `${app.status?.submissionAttempts} submissions`);
        onlyOneDriver(witness, 1);
        return [witness.states().join(" → ")];
      } finally {
        await witness.stop();
        tool.api.close();
      }
    }),
};

/** Runs the real `kubectl wait` under the user's account; the wait begins before the application has any status. */
const waitOn = async ({ cluster }: Scene, { kubeconfig }: Tool, args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await cluster.kubectl(["wait", ...args, "--timeout=180s"], { kubeconfig });
  must(code === 0, `kubectl wait ${args.join(" ")}: ${stderr}`);
  return stdout.trim();
};

/**
 * Makes the calls of Airflow's operator in its order: create, state, the driver by name, its log, its label, deletion.
 */
const airflow: Case = {
  name: "Airflow: creates, finds the driver by the task's labels, reads its log, deletes; kubectl wait sees both ends",
  run: (scene) =>
    running(scene, async () => {
      const tool = await toolOn(scene);
      const { api } = tool;
      const labels = { dag_id: "pi", task_id: "compute", run_id: "manual", spark_kubernetes_operator: "True" };
      const both = { labels, cores: 1, memory: "512m", env: [], envFrom: [], volumeMounts: [], tolerations: [] };
      const roles = { driver: { ...both, serviceAccount: "spark" }, executor: { ...both, instances: 1 } };
      await created(tool, bodyOf("compute-x1", 10, { ...roles, labels, volumes: [] }));
      const wait = (condition: string): Promise<string> => {
        const waiting = waitOn(scene, tool, ["sparkapplication/compute-x1", `--for=${condition}`]);
        // Its failure is the case's where its result is awaited, and ends no process before that.
        waiting.catch(() => {});
        return waiting;
      };
      const done = wait("jsonpath={.status.applicationState.state}=COMPLETED");
      const gone = wait("delete");
      await api.until(
        `${applications}/compute-x1/status`,
        ({ body }) => !["", "SUBMITTED"].includes(Object(body).status?.applicationState?.state ?? ""),
        patienceMs,
      );
      const selector = [...Object.entries(labels).map(([key, value]) => `${key}=${value}`), "already_checked!=True"];
      const query = encodeURIComponent(`${selector.join(",")},!airflow-worker,spark-role=driver`);
      const { body } = await api.call("GET", `${pods}?labelSelector=${query}`);
      must(Object(body).items?.length === 1, `${Object(body).items?.length} drivers with the task's labels`);
      await api.until(
        `${pods}/compute-x1-driver`,
        (reply) => Object(reply.body).status?.phase === "Succeeded",
        patienceMs,
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
      await api.until(`${pods}/compute-x1-driver`, ({ status }) => status === 404, patienceMs);
      const told = [await done, await gone];
      api.close();
      return ["created, found, read, marked, deleted", ...told];
    }),
};

const submission = (at: readonly string[], properties: string): readonly string[] => [
  ...["submit", ...at, "--application", "typed", "--class", "org.apache.spark.examples.SparkPi"],
  ...["--image", "docker.io/apache/spark:4.1.1", "--service-account", "spark", "--num-executors", "1"],
  ...["--properties-file", properties, "--watch", "--timeout", "4m"],
  ...["local:///opt/spark/examples/jars/spark-examples.jar", "1000"],
];

/** Reads the driver's REST API through a local port, the API server's pod proxy, and the pod's own port. */
const forwarded = async (built: Built, at: readonly string[]): Promise<void> => {
  const page = built.start(["forward", ...at, "typed", "--port", "0"]);
  let answer = "";
  for (let left = 300; left > 0 && !answer.includes('"attempts"'); left--) {
    const [url] = /http:\S+/.exec(page.out()) ?? [];
    const asked = url === undefined ? undefined : await fetch(`${url}api/v1/applications`).catch(() => undefined);
    answer = (await asked?.text()) ?? page.err();
    await sleep(200);
  }
  page.interrupt();
  const { code } = await page.ended;
  must(answer.includes('"attempts"') && code === 0, `forward ended with ${code}: ${answer}`);
};

const afterwards = async (built: Built, at: readonly string[]): Promise<string> => {
  const said = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await built.run([args[0] ?? "", ...at, ...args.slice(1)]);
    must(code === 0, `rekindle ${args.join(" ")} ended with ${code}: ${err}`);
    return out;
  };
  must((await said("log", "typed", "--tail", "20")) !== "", "log said nothing");
  const events = await said("event", "typed");
  must(/SparkApplicationSubmitted/.test(events), `event said: ${events}`);
  const status = await said("status", "typed");
  const removed = await said("delete", "typed", "--wait");
  must(removed.includes("deleted"), `delete said: ${removed}`);
  return status.split("\n")[0] ?? "";
};

/** Runs Rekindle's built command line: the commands that a user types from submission to deletion. */
const ours: Case = {
  name: "rekindle submit --watch, forward, log, event, status, delete --wait, built, under a user's account",
  run: (scene) =>
    running(scene, async () => {
      const tool = await toolOn(scene);
      tool.api.close();
      const file = join(scene.hostLog, "..", "defaults.conf");
      await writeFile(file, "spark.driver.memory 512m\nspark.executor.memory 512m\n");
      const pack = await openPackage();
      const built = pack.at(tool.kubeconfig);
      const at = ["-n", "default"];
      try {
        const submitted = built.start(submission(at, file));
        await sleep(3_000);
        await awaitState(scene.cluster.api, "typed", ["RUNNING"], patienceMs);
        await forwarded(built, at);
        const { code, out, err } = await submitted.ended;
        must(
          code === 0 && pi.test(out) && out.includes("COMPLETED"),
          `submit ended with ${code}: ${out.slice(-500)}${err}`,
        );
        const app = await read(scene.cluster.api, "typed");
        must(app.status?.executionAttempts === 1, "ran more than once");
        const status = await afterwards(built, at);
        const left = await kubectl(scene.cluster, [
          "get",
          "pods",
          "-l",
          "sparkoperator.k8s.io/app-name=typed",
          "-o",
          "name",
        ]);
        must(left === "", `left: ${left}`);
        return [status];
      } finally {
        pack.remove();
      }
    }),
};

/** All cases of the family. */
export const tools: readonly Case[] = [kueue, kueuedJob, airflow, ours];
