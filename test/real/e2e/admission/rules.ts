/**
 * Requests to admission on a real API server, by dry run, and the answers that the webhook and the policies must both
 * give.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Reply } from "../../cluster/api.ts";
import { must, type Scene } from "../scene.ts";

export const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

export const spec = {
  type: "Scala",
  sparkVersion: "4.1.1",
  image: "apache/spark:4.1.1",
  mainClass: "org.apache.spark.examples.SparkPi",
  mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
  driver: { serviceAccount: "spark" },
  executor: {},
};

export const application = (name: string, changes: object = {}, marks: object = {}) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, ...marks },
  spec: { ...spec, ...changes },
});

export const dryRun = (scene: Scene, body: object): Promise<Reply> =>
  scene.cluster.api.call("POST", `${applications}?dryRun=All`, body);

export const messageOf = (reply: Reply): string =>
  z.looseObject({ message: z.string() }).safeParse(reply.body).data?.message ?? "";

const dynamic = { dynamicAllocation: { enabled: true } };

/** Invalid applications, and the words that the refusal must contain. */
const refused: readonly (readonly [string, object, RegExp])[] = [
  ["a name", application("with.dots"), /metadata\.name/],
  [
    "a conf",
    application("x", { sparkConf: { "spark.master": "local" } }),
    /sparkConf key "spark\.master" is not allowed/,
  ],
  [
    "another namespace",
    application("x", { sparkConf: { "spark.kubernetes.namespace": "kube-system" } }),
    /sparkConf key "spark\.kubernetes\.namespace" is not allowed/,
  ],
  [
    "node selectors twice",
    application("x", { nodeSelector: { a: "b" }, driver: { nodeSelector: { a: "b" } } }),
    /node selector cannot be defined at both/,
  ],
  ["a size", application("x", { driver: { memory: "1.5g" } }), /spec\.driver\.memory/],
  ["templates of Spark 2", application("x", { sparkVersion: "2.4.8", driver: { template: {} } }), /spec\.sparkVersion/],
  [
    "bounds of dynamic allocation",
    application("x", { dynamicAllocation: { enabled: true, minExecutors: 3, maxExecutors: 2 } }),
    /spec\.dynamicAllocation/,
  ],
  [
    "one port twice",
    application("x", {
      driverIngressOptions: [
        { servicePort: 1, servicePortName: "a", ingressURLFormat: "a" },
        { servicePort: 1, servicePortName: "b", ingressURLFormat: "b" },
      ],
    }),
    /spec\.driverIngressOptions/,
  ],
  [
    "a name that no LocalQueue has",
    application("x", {}, { annotations: { "rekindle.dev/kueue-queue": "team a" } }),
    /metadata\.annotations\[rekindle\.dev\/kueue-queue\]: "team a" is not the name of a LocalQueue/,
  ],
  ...[
    [
      "annotation",
      { annotations: { "rekindle.dev/kueue-queue": "team-a" } },
      String.raw`annotations\[rekindle\.dev/kueue-queue\]`,
    ],
    ["label", { labels: { "kueue.x-k8s.io/queue-name": "team-a" } }, String.raw`labels\[kueue\.x-k8s\.io/queue-name\]`],
  ].map(
    ([what, marks, path]) =>
      [
        `growth of its driver's in the LocalQueue of its ${what}`,
        application("x", dynamic, Object(marks)),
        new RegExp(`metadata\\.${path}: Kueue admits as many executors`),
      ] as const,
  ),
];

/**
 * Checks that each invalid application is refused by the expected component, with the name of the field, and that a
 * valid one is admitted.
 */
export const refuses = async (scene: Scene, by: RegExp): Promise<string> => {
  for (const [what, body, says] of refused) {
    const reply = await dryRun(scene, body);
    const message = messageOf(reply);
    must(reply.status === 422 && by.test(message) && says.test(message), `${what}: ${reply.status} ${message}`);
  }
  const own = { "rekindle.dev/kueue-queue": "team-a", "rekindle.dev/executors": "own" };
  for (const body of [application("good"), application("x", dynamic, { annotations: own })]) {
    const good = await dryRun(scene, body);
    must(good.status === 201, `what is right was refused: ${messageOf(good)}`);
  }
  return `${refused.length} refused by name of the field, what is right is taken`;
};

/** Waits until the condition holds, up to 20 s: the API server's informers see a registration a moment later. */
export const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + 20_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`still not: ${what}`);
    await sleep(200);
  }
};

export const isAsked = async (scene: Scene): Promise<boolean> =>
  (await dryRun(scene, application("with.dots"))).status === 422;
