/** Proves the properties of this cluster on which tests rely: API, garbage collection, RBAC, scheduling, real Spark. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { dataDir } from "../../support/data.ts";
import { testCase } from "../../support/test-case.ts";
import { sparkVersions } from "../setup/spark.ts";
import type { Reply } from "./api.ts";
import { openApi } from "./api.ts";
import type { Cluster } from "./cluster.ts";
import { allowSpark, postDriver } from "./handmade.ts";

/** Resolves with the observation; throws if the property does not hold. An observation "skip: …" counts as neither. */
export type Check = { readonly name: string; readonly run: (cluster: Cluster) => Promise<string> };

const must = (holds: boolean, what: string, seen: unknown): void => {
  if (!holds) throw new Error(`${what}: ${JSON.stringify(seen).slice(0, 2000)}`);
};

const crdsApply: Check = testCase(
  "upstream's CRDs are accepted by kubectl apply --server-side, and an object of theirs is kept",
  async ({ kubectl, api }) => {
    if (dataDir === undefined) return "skip: the recorded data is not here";
    const folder = join(dataDir, "spark-operator");
    const applied = await kubectl(["apply", "--server-side", "-f", join(folder, "crds")]);
    must(applied.code === 0, "apply failed", applied);
    const wait = await kubectl(["wait", "--for=condition=Established", "--timeout=20s", "crd", "--all"]);
    must(wait.code === 0, "the CRDs are not established", wait);
    const input = await readFile(join(folder, "examples", "spark-pi.yaml"), "utf8");
    const created = await kubectl(["create", "-f", "-"], { input });
    must(created.code === 0, "create failed", created);
    const path = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications/spark-pi";
    const reply = await api.call("DELETE", path);
    must(reply.status === 200, "the object was not there", reply);
    return applied.stdout.trim().split("\n").join(", ");
  },
);

const garbageGoes: Check = testCase("what an object owns is garbage collected after it", async ({ api }) => {
  const path = "/api/v1/namespaces/default/configmaps";
  const owner = await api.call("POST", path, { metadata: { name: "owner" } });
  const { uid } = z.object({ metadata: z.object({ uid: z.string() }) }).parse(owner.body).metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  must(
    (await api.call("POST", path, { metadata: { name: "owned", ownerReferences } })).status === 201,
    "not created",
    path,
  );
  await api.call("DELETE", `${path}/owner`);
  const began = performance.now();
  await api.until(`${path}/owned`, ({ status }) => status === 404, 30_000);
  return `gone after ${Math.round(performance.now() - began)} ms`;
});

const rolesHold: Check = testCase(
  "a service account may do what a role says and nothing else",
  async ({ kubectl, kubeconfigOf }) => {
    await kubectl(["create", "serviceaccount", "reader"]);
    const kubeconfig = await kubeconfigOf("default", "reader");
    const before = await kubectl(["get", "pods"], { kubeconfig });
    must(before.code !== 0 && before.stderr.includes("Forbidden"), "it may read without a role", before);
    await kubectl(["create", "role", "reader", "--verb=get,list", "--resource=pods"]);
    await kubectl(["create", "rolebinding", "reader", "--role=reader", "--serviceaccount=default:reader"]);
    const as = await openApi(kubeconfig);
    await as.until("/api/v1/namespaces/default/pods", ({ status }) => status === 200, 5_000);
    const secrets = await as.call("GET", "/api/v1/namespaces/default/secrets");
    as.close();
    must(secrets.status === 403, "it may read secrets", secrets);
    return "403, then 200 on pods alone";
  },
);

const podsAreBound: Check = testCase("the scheduler binds a pod as soon as a node is Ready", async ({ api }) => {
  const pods = "/api/v1/namespaces/default/pods";
  const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: "main", image: "nothing" }] };
  must((await api.call("POST", pods, { metadata: { name: "waits" }, spec })).status === 201, "not created", pods);
  const status = {
    capacity: { cpu: "4", memory: "8Gi", pods: "50" },
    conditions: [{ type: "Ready", status: "True", reason: "Said", message: "no agent stands behind this node" }],
  };
  await api.call("POST", "/api/v1/nodes", { metadata: { name: "paper" } });
  await api.call("PATCH", "/api/v1/nodes/paper/status", { status }, "application/merge-patch+json");
  const bound = ({ body }: Reply): boolean => JSON.stringify(body).includes('"nodeName":"paper"');
  await api.until(`${pods}/waits`, bound, 30_000);
  await api.call("DELETE", `${pods}/waits?gracePeriodSeconds=0`);
  await api.call("DELETE", "/api/v1/nodes/paper");
  return "bound to a node that exists on paper only";
});

const phaseOf = ({ body }: Reply): string | undefined =>
  z.object({ status: z.object({ phase: z.string() }) }).safeParse(body).data?.status.phase;

const sparkRuns = (sparkVersion: string, language: "java" | "python" = "java"): Check =>
  testCase(
    `a ${language} driver of Spark ${sparkVersion}, posted by hand, brings up two executors, ends, and its log is read through the API server`,
    async ({ api }) => {
      const name = `pi-${language}-${sparkVersion.replaceAll(".", "-")}`;
      await allowSpark(api, "default");
      const began = performance.now();
      await postDriver(api, { namespace: "default", name, sparkVersion, slices: 20, executors: 2, language });
      const pod = `/api/v1/namespaces/default/pods/${name}-driver`;
      const executors = new Set<string>();
      const list = `/api/v1/namespaces/default/pods?labelSelector=spark-role%3Dexecutor%2Cspark-app-selector%3Dspark-${name}`;
      const items = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });
      let phase: string | undefined;
      while (phase !== "Succeeded" && phase !== "Failed") {
        must(performance.now() - began < 120_000, "not ended after 120 s", await api.call("GET", pod));
        for (const item of items.parse((await api.call("GET", list)).body).items) executors.add(item.metadata.name);
        phase = phaseOf(await api.call("GET", pod));
        await sleep(200);
      }
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const log = String((await api.call("GET", `${pod}/log`)).body);
      must(phase === "Succeeded", "the driver failed", log.slice(-1500));
      const said = log.split("\n").find((line) => line.startsWith("Pi is roughly 3."));
      must(said !== undefined, "the result is not in the log", log.slice(-1500));
      must(executors.size >= 2, "there were not two executors", [...executors]);
      return `${said}; ${seconds} s`;
    },
  );

/** Returns the checks that need only the API server, and those that need a node. */
export const checksFor = (nodes: number): readonly Check[] => [
  crdsApply,
  garbageGoes,
  rolesHold,
  ...(nodes === 0
    ? [podsAreBound]
    : [...sparkVersions.map((version) => sparkRuns(version)), sparkRuns("4.0.4", "python")]),
];

export type Verdict = {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly said: string;
};

/** Runs the checks in order; a failed check does not stop the others. */
export const prove = async (cluster: Cluster, checks: readonly Check[]): Promise<readonly Verdict[]> => {
  const verdicts: Verdict[] = [];
  for (const { name, run } of checks) {
    const said = await run(cluster).then(
      (text) => ({ failed: false, text }),
      (error: unknown) => ({ failed: true, text: error instanceof Error ? error.message : String(error) }),
    );
    const skipped = said.text.startsWith("skip: ");
    const outcome = said.failed ? "failed" : skipped ? "skipped" : "passed";
    console.log(`${outcome === "failed" ? "FAIL" : outcome === "passed" ? "ok  " : "skip"} ${name}\n     ${said.text}`);
    verdicts.push({ name, outcome, said: said.text });
  }
  return verdicts;
};
