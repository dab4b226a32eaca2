/**
 * Troubles of objects beside the kills of functions: executors that are killed, pods that are evicted, a node that is drained, a
 * namespace that is deleted, pods that a quota refuses. Each is judged by objects alone.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { sparkPi } from "../../../support/pi.ts";
import { patienceMs } from "../../cluster/api.ts";
import { jobStatus } from "../cloud/works.ts";
import type { Case, Observed } from "../lambda/cases.ts";
import { collection } from "../lambda/witness.ts";
import { kubectl, must } from "../scene.ts";
import { awaitState, stateOf } from "../witness.ts";
import type { Fixture } from "./fixture.ts";

const merge = "application/merge-patch+json";
const jobsIn = (namespace: string): string => `/apis/batch.volcano.sh/v1alpha1/namespaces/${namespace}/jobs`;
const podsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

const pods = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), uid: z.string(), deletionTimestamp: z.string().optional() }),
      status: z.object({ phase: z.string() }).loose(),
    }),
  ),
});
type Pod = z.infer<typeof pods>["items"][number];

const podsOf = async ({ cluster }: Observed, namespace: string, selector: string): Promise<readonly Pod[]> => {
  const { body } = await cluster.api.call("GET", `${podsIn(namespace)}?labelSelector=${encodeURIComponent(selector)}`);
  return pods.parse(body).items;
};

const isUp = ({ metadata, status }: Pod): boolean =>
  status.phase === "Running" && metadata.deletionTimestamp === undefined;

/** Resolves with the pods of a selector as soon as so many of them run. */
const untilUp = async (
  around: Observed,
  namespace: string,
  selector: string,
  count: number,
): Promise<readonly Pod[]> => {
  for (const until = performance.now() + patienceMs; ; await sleep(250)) {
    const up = (await podsOf(around, namespace, selector)).filter(isUp);
    if (up.length >= count) return up;
    must(performance.now() < until, `${up.length} pods of ${selector} run, ${count} are awaited`);
  }
};

const created = async ({ cluster }: Observed, path: string, object: object): Promise<void> => {
  const { status, body } = await cluster.api.call("POST", path, object);
  must(status === 201, `POST ${path}: ${JSON.stringify(body)}`);
};

const evicted = async ({ cluster }: Observed, namespace: string, { metadata: { name, uid } }: Pod): Promise<void> => {
  const { status, body } = await cluster.api.call("POST", `${podsIn(namespace)}/${name}/eviction`, {
    ...{ apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } },
    deleteOptions: { preconditions: { uid } },
  });
  must([201, 404, 409].includes(status), `evict ${name}: ${JSON.stringify(body)}`);
};

type Wanted = {
  readonly name: string;
  readonly namespace?: string;
  readonly command: string;
  readonly policies?: readonly object[];
  /** Fields of the pods. */
  readonly pod?: object;
};

const replicas = 2;

const job = ({ name, namespace = "default", command, policies = [], pod = {} }: Wanted): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace },
  spec: {
    ...{ schedulerName: "volcano", minAvailable: replicas, maxRetry: 20, policies },
    tasks: [
      {
        ...{ name: "w", replicas },
        template: {
          spec: {
            ...{ restartPolicy: "Never", terminationGracePeriodSeconds: 1, ...pod },
            containers: [{ name: "c", image: "busybox:1.36", command: ["sh", "-c", command] }],
          },
        },
      },
    ],
  },
});

const jobPods = (name: string): string => `volcano.sh/job-name=${name}`;

const phaseOf = async ({ cluster: { api } }: Observed, namespace: string, name: string): Promise<string> => {
  const { body } = await api.call("GET", `${jobsIn(namespace)}/${name}`);
  const shape = z.object({ status: z.object({ state: z.object({ phase: z.string() }).loose() }).loose() });
  return shape.safeParse(body).data?.status.state.phase ?? "";
};

const untilPhase = async (around: Observed, namespace: string, name: string, phase: string): Promise<void> => {
  for (const until = performance.now() + patienceMs; ; await sleep(250)) {
    const now = await phaseOf(around, namespace, name);
    if (now === phase) return;
    must(performance.now() < until, `the job ${name} is ${now}, ${phase} is awaited`);
  }
};

const restarting = [{ event: "PodEvicted", action: "RestartJob" }];

const executors = "sparkoperator.k8s.io/app-name=pi-hunted,spark-role=executor";

const executorsFall: Case<Observed> = {
  name: "pi-hunted loses an executor by a kill and one by an eviction, and ends COMPLETED in one attempt",
  run: async (around) => {
    const { api } = around.cluster;
    const spec = {
      arguments: ["900"],
      restartPolicy: { type: "Never" },
      executor: { instances: 2, cores: 1, memory: "512m" },
    };
    await created(around, collection, sparkPi("pi-hunted", spec));
    const [first, second] = await untilUp(around, "default", executors, 2);
    must(first !== undefined && second !== undefined, "two executors are needed");
    if (first === undefined || second === undefined) return [];
    await api.call("DELETE", `${podsIn("default")}/${first.metadata.name}`, { gracePeriodSeconds: 0 });
    await evicted(around, "default", second);
    const app = await awaitState(api, "pi-hunted", ["COMPLETED", "FAILED"], patienceMs);
    must(stateOf(app) === "COMPLETED", `ended ${stateOf(app)}: ${JSON.stringify(app.status)}`);
    must(app.status?.executionAttempts === 1, `attempts: ${app.status?.executionAttempts}`);
    return [`${first.metadata.name} was killed, ${second.metadata.name} evicted`];
  },
};

const podEvicted: Case<Observed> = {
  name: "a job whose pod is evicted restarts as its policy says, and is Completed",
  run: async (around) => {
    const wanted = { name: "evicted", command: "sleep 25", policies: restarting };
    await created(around, jobsIn("default"), job(wanted));
    const [first] = await untilUp(around, "default", jobPods("evicted"), replicas);
    if (first === undefined) throw new Error("no pod runs");
    await evicted(around, "default", first);
    await untilPhase(around, "default", "evicted", "Completed");
    const { retryCount } = await jobStatus(around.cluster.api, "evicted");
    must(retryCount === 1, `it was restarted ${retryCount} times`);
    return ["restarted once"];
  },
};

const spare = "node-2";
const only = { key: "rekindle.test/only", value: "drained", effect: "NoSchedule" };

const nodeDrained: Case<Observed> = {
  name: "a job whose node is drained waits for a node, and is Completed when there is one again",
  run: async (around) => {
    const { cluster } = around;
    await cluster.addNode(spare);
    await kubectl(cluster, ["taint", "node", spare, `${only.key}=${only.value}:${only.effect}`]);
    const pod = {
      nodeSelector: { "kubernetes.io/hostname": spare },
      tolerations: [{ key: only.key, operator: "Exists" }],
    };
    await created(around, jobsIn("default"), job({ name: "drained", command: "sleep 25", policies: restarting, pod }));
    const before = await untilUp(around, "default", jobPods("drained"), replicas);
    await kubectl(cluster, ["drain", spare, "--ignore-daemonsets", "--force", "--timeout=60s"]);
    for (const until = performance.now() + patienceMs; ; await sleep(250)) {
      const now = await podsOf(around, "default", jobPods("drained"));
      const isNew = ({ metadata }: Pod): boolean => before.every((old) => old.metadata.uid !== metadata.uid);
      if (now.length === replicas && now.every((one) => isNew(one) && one.status.phase === "Pending")) break;
      must(performance.now() < until, `the drained pods have no successors: ${JSON.stringify(now)}`);
    }
    await kubectl(cluster, ["uncordon", spare]);
    await untilPhase(around, "default", "drained", "Completed");
    const { retryCount } = await jobStatus(cluster.api, "drained");
    return [`restarted ${retryCount} times`];
  },
};

const namespaceGone: Case<Observed> = {
  name: "a namespace with a running job is deleted, and nothing of it is left",
  run: async (around) => {
    const { api } = around.cluster;
    const namespace = "doomed";
    await created(around, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    await created(around, jobsIn(namespace), job({ name: "doomed", namespace, command: "sleep 600" }));
    await untilUp(around, namespace, jobPods("doomed"), replicas);
    const began = performance.now();
    await api.call("DELETE", `/api/v1/namespaces/${namespace}`);
    await api.until(`/api/v1/namespaces/${namespace}`, ({ status }) => status === 404, patienceMs);
    return [`gone after ${Math.round((performance.now() - began) / 1_000)} s`];
  },
};

/** Resolves when the API server has refused a pod of the namespace to a function. */
const untilRefused = async ({ audit }: Pick<Fixture, "audit">, namespace: string): Promise<void> => {
  for (const until = performance.now() + patienceMs; ; await sleep(500)) {
    const refused = (await audit.read()).filter(
      ({ verb, resource, code, ...of }) =>
        verb === "create" && resource === "pods" && code === 403 && of.namespace === namespace,
    );
    if (refused.length > 0) return;
    must(performance.now() < until, `no pod of ${namespace} was refused`);
  }
};

const quotaRefuses: Case<Fixture> = {
  name: "a job whose second pod a quota refuses is Completed when the quota allows it",
  run: async (around) => {
    const { api } = around.cluster;
    const namespace = "tight";
    const quota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "pods" },
      spec: { hard: { pods: "1" } },
    };
    await created(around, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
    await created(around, quotas, quota);
    await api.until(`${quotas}/pods`, ({ body }) => JSON.stringify(body).includes('"used"'), 30_000);
    await created(around, jobsIn(namespace), job({ name: "tight", namespace, command: "sleep 60" }));
    await untilRefused(around, namespace);
    const there = await podsOf(around, namespace, jobPods("tight"));
    must(there.length <= 1, `${there.length} pods are beside a quota of one`);
    const { status } = await api.call("PATCH", `${quotas}/pods`, { spec: { hard: { pods: "4" } } }, merge);
    must(status === 200, `the quota is not changed: ${status}`);
    await untilPhase(around, namespace, "tight", "Completed");
    return ["refused, then Completed"];
  },
};

/** Cases that run side by side, while functions are killed. */
export const troubles: readonly Case<Fixture>[] = [executorsFall, podEvicted, nodeDrained, namespaceGone, quotaRefuses];
