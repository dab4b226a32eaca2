/** The abilities that need a webhook: defaults, an executor's memory limit, quotas. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { kubectl, must, type Scene } from "../scene.ts";
import { application, applications, dryRun, messageOf, spec, until } from "./rules.ts";

const stored = z.looseObject({ spec: z.looseObject({}) });

export const defaulted = async (scene: Scene): Promise<string> => {
  const { type: _type, ...untyped } = spec;
  const reply = await dryRun(scene, { ...application("defaulted"), spec: untyped });
  const { spec: got } = stored.parse(reply.body);
  const wanted = { type: "Scala", mode: "cluster", restartPolicy: { type: "Never" } };
  const pods = {
    driver: { cores: 1, memory: "1g", serviceAccount: "spark" },
    executor: { cores: 1, memory: "1g", instances: 1 },
  };
  for (const [field, value] of Object.entries({ ...wanted, ...pods }))
    must(
      JSON.stringify(sorted(got[field])) === JSON.stringify(sorted(value)),
      `${field} is ${JSON.stringify(got[field])}`,
    );
  return "upstream's defaults are written, the type among them";
};

const sorted = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)) : value;

const maps = z.object({
  items: z.array(z.looseObject({ data: z.record(z.string(), z.string()).optional() })),
});

const podShape = z.looseObject({
  metadata: z.looseObject({}),
  spec: z.looseObject({ containers: z.array(z.looseObject({ name: z.string() })) }),
});

/** Returns the executors' pod template as the driver finds it. */
const templateOf = async (scene: Scene, name: string): Promise<z.infer<typeof podShape>> => {
  const path = `/api/v1/namespaces/default/configmaps?labelSelector=${encodeURIComponent(`sparkoperator.k8s.io/app-name=${name}`)}`;
  const found = async () =>
    maps
      .parse((await scene.cluster.api.call("GET", path)).body)
      .items.flatMap(({ data }) => data?.["podspec-configmap-key"] ?? [])[0];
  await until("the executors' template is there", async () => (await found()) !== undefined);
  return podShape.parse(JSON.parse((await found()) ?? ""));
};

const limits = z.looseObject({
  spec: z.looseObject({
    containers: z.array(z.looseObject({ resources: z.looseObject({ limits: z.record(z.string(), z.string()) }) })),
  }),
});

/** Posts an executor as the driver's allocator does: Spark computes requests and limits over those of the template. */
export const limitedExecutor = async (scene: Scene): Promise<string> => {
  const { api } = scene.cluster;
  await api.call("POST", applications, application("limited", { executor: { instances: 1, memoryLimit: "3g" } }));
  const { metadata, spec: pod } = await templateOf(scene, "limited");
  const amount = { cpu: "1", memory: "1408Mi" };
  const containers = pod.containers.map((one) => ({
    ...one,
    image: "apache/spark:4.1.1",
    resources: { requests: amount, limits: { memory: "1408Mi" } },
  }));
  const made = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name: "limited-exec-1" },
    spec: { ...pod, containers },
  };
  const reply = await api.call("POST", "/api/v1/namespaces/default/pods?dryRun=All", made);
  const parsed = limits.safeParse(reply.body);
  const got = parsed.data?.spec.containers[0]?.resources.limits["memory"];
  must(got === "3Gi", `the executor's memory limit is ${got}: ${messageOf(reply)}`);
  const { labels: _labels, ...unmarked } = metadata;
  const plain = limits.parse(
    (
      await api.call("POST", "/api/v1/namespaces/default/pods?dryRun=All", {
        ...made,
        metadata: { ...unmarked, name: "plain" },
      })
    ).body,
  );
  must(plain.spec.containers[0]?.resources.limits["memory"] === "1408Mi", "a pod without the label was changed");
  await kubectl(scene.cluster, ["delete", "sparkapplication", "limited"]);
  return "executor.memoryLimit 3g: the executor that Spark limits to 1408Mi is created with 3Gi, a pod without the label as it is";
};

/** The pods that the API server stores count: with the limits of a LimitRange. */
const overQuotaByRange = async (scene: Scene): Promise<string> => {
  const metadata = { name: "ranged", namespace: "default" };
  const limits = [{ type: "Container", default: { cpu: "2" } }];
  const counted = JSON.stringify({ spec: { hard: { "limits.cpu": "3" } } });
  const range = { apiVersion: "v1", kind: "LimitRange", metadata, spec: { limits } };
  await scene.cluster.api.call("POST", "/api/v1/namespaces/default/limitranges", range);
  await kubectl(scene.cluster, ["patch", "quota", "small", "--type=merge", "-p", counted]);
  await until("the quota counts limits", async () =>
    (await kubectl(scene.cluster, ["get", "quota", "small", "-o", "jsonpath={.status.hard}"])).includes("limits.cpu"),
  );
  await sleep(1_200);
  const message = messageOf(await dryRun(scene, application("ranged", { executor: { instances: 1 } })));
  await kubectl(scene.cluster, ["delete", "limitrange", "ranged"]);
  must(/limits\.cpu: 4 more than the 0 in use exceed 3/.test(message), `quota with a LimitRange: ${message}`);
  return "limits of a LimitRange counted";
};

export const overQuota = async (scene: Scene): Promise<string> => {
  await kubectl(scene.cluster, ["create", "quota", "small", "--hard=requests.cpu=3"]);
  await until("the quota is counted", async () =>
    (await kubectl(scene.cluster, ["get", "quota", "small", "-o", "jsonpath={.status.hard}"])).includes("requests.cpu"),
  );
  // Quotas are read once a second, so a new one may not count yet.
  await sleep(1_200);
  const message = messageOf(await dryRun(scene, application("many", { executor: { instances: 5 } })));
  must(/failed to validate resource quota "default\/small": requests\.cpu: 6/.test(message), `quota: ${message}`);
  const ranged = await overQuotaByRange(scene);
  await kubectl(scene.cluster, ["delete", "quota", "small"]);
  return `what exceeds a quota is refused, ${ranged}`;
};
