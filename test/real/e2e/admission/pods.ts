/** The fields that admission writes into foreign pods on a real API server, by dry run. */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { must, type Scene } from "../scene.ts";
import { messageOf, until } from "./rules.ts";

const gate = { name: "scheduling.volcano.sh/queue-allocation-gate" };

const groups = [
  {
    resourceGroup: "gpu",
    labels: { pool: "gpu" },
    tolerations: [{ key: "gpu", operator: "Exists", effect: "NoSchedule" }],
    affinity: JSON.stringify({ podAntiAffinity: {} }),
  },
  { resourceGroup: "system", object: { key: "namespace", value: ["kube-public"] }, schedulerName: "default-scheduler" },
];

/** Flags of a host that mutates pods. */
export const podFlags: readonly string[] = [
  "--admission-queue-gate",
  `--admission-resource-groups=${JSON.stringify(groups)}`,
];

type Texts = Readonly<Record<string, string>>;

const answer = z.looseObject({
  spec: z.looseObject({
    schedulerName: z.string(),
    schedulingGates: z.array(z.unknown()).optional(),
    nodeSelector: z.record(z.string(), z.string()).optional(),
    affinity: z.unknown().optional(),
    tolerations: z.array(z.looseObject({ key: z.string() })).default([]),
  }),
});

const made = async ({ cluster }: Scene, annotations: Texts, namespace = "default") => {
  const body = {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "other", annotations } },
    spec: { schedulerName: "volcano", containers: [{ name: "c", image: "i" }] },
  };
  const reply = await cluster.api.call("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, body);
  must(reply.status === 201, `a pod is refused: ${messageOf(reply)}`);
  return answer.parse(reply.body).spec;
};

const is = (what: string, found: unknown, wanted: unknown): void =>
  must(isDeepStrictEqual(found, wanted), `${what} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);

/** Checks all mutations in one pod, each of them in other pods, and none in an unrelated pod. */
export const writtenIntoPods = async (scene: Scene): Promise<string> => {
  const asks = { [gate.name]: "true" };
  await until("pods are sent to admission", async () => (await made(scene, asks)).schedulingGates !== undefined);
  const both = await made(scene, { ...asks, "volcano.sh/resource-group": "gpu" });
  is("the gate", both.schedulingGates, [gate]);
  is("the node selector", both.nodeSelector, { pool: "gpu" });
  is("the affinity", both.affinity, { podAntiAffinity: {} });
  must(
    both.tolerations.some(({ key }) => key === "gpu"),
    "the toleration of its group is missing",
  );
  const system = await made(scene, asks, "kube-public");
  is("the scheduler of its namespace's group", system.schedulerName, "default-scheduler");
  is("the gate of a pod that no scheduler of Volcano places", system.schedulingGates, undefined);
  const { schedulingGates, nodeSelector, affinity, schedulerName } = await made(scene, { [gate.name]: "false" });
  is(
    "of a pod that is nobody's",
    [schedulingGates, nodeSelector, affinity, schedulerName],
    [...[undefined, undefined, undefined], "volcano"],
  );
  return "gate, node selector, affinity, tolerations and scheduler are written as their settings say, and into no other pod";
};
