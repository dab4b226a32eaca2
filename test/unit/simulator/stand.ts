/** A simulator for tests, with short names for what the tests do with it. */

import { type Options, openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { itemsAt, numberAt, textAt } from "../../../shared/simulator/storage/json.ts";
import type { Item } from "../../../shared/simulator/storage/metadata.ts";

export type Stand = {
  readonly simulator: Simulator;
  call(method: string, path: string, body?: unknown, type?: string): { status: number; body: unknown };
  /** A pod of the default namespace. */
  pod(name: string): Item | undefined;
  /** Names and phases of the pods of the default namespace. */
  pods(): readonly string[];
  /** Advances the clock by this many ms. */
  pass(ms: number): void;
  /** Advances the clock until nothing is due. */
  rest(): void;
};

export const open = (options: Options = {}): Stand => {
  const simulator = openSimulator(options);
  const { store, clock } = simulator;
  return {
    simulator,
    call: (method, path, body, type = "application/json") => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const answer = simulator.handle({ method, path, headers: { "content-type": type }, body: text });
      return { status: answer.status, body: JSON.parse(answer.body) };
    },
    pod: (name) => store.get("pods", `default/${name}`),
    pods: () =>
      store
        .list("pods")
        .filter(({ metadata }) => metadata.namespace === "default")
        .map((pod) => `${pod.metadata.name} ${textAt(pod, "status", "phase")}`),
    pass: (ms) => clock.advanceTo(clock.now() + ms),
    rest: () => {
      for (let due = clock.nextDue(); due !== undefined; due = clock.nextDue()) clock.advanceTo(due);
    },
  };
};

export const podsPath = "/api/v1/namespaces/default/pods";
export const mapsPath = "/api/v1/namespaces/default/configmaps";

export const merge = "application/merge-patch+json";

/** Returns a pod that sleeps. */
export const sleeper = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "sleep:1" }], ...spec },
});

type Confs = Readonly<Record<string, string>>;

/** Submits a driver as Spark's client does: the pod, then the ConfigMap that it mounts. */
export const submit = (
  { call }: Stand,
  name = "pi",
  confs: Confs = {},
  metadata: object = {},
  template?: unknown,
): void => {
  const owner = { "spark-app-name": name, "spark-app-selector": `spark-${name}`, "spark-role": "driver" };
  const properties = { "spark.app.name": name, "spark.executor.instances": "2", ...confs };
  const text = Object.entries(properties).map(([key, value]) => `${key}=${value.replaceAll(":", "\\:")}`);
  call("POST", podsPath, {
    metadata: { name: `${name}-driver`, labels: owner, ...metadata },
    spec: {
      restartPolicy: "Never",
      containers: [
        {
          name: "spark-kubernetes-driver",
          image: "spark:4.1.1",
          volumeMounts: [
            { name: "conf", mountPath: "/opt/spark/conf" },
            { name: "template", mountPath: "/opt/spark/pod-template" },
          ],
        },
      ],
      volumes: [
        {
          name: "conf",
          configMap: { name: `${name}-conf`, items: [{ key: "spark.properties", path: "spark.properties" }] },
        },
        {
          name: "template",
          configMap: { name: `${name}-template`, optional: true, items: [{ key: "podspec", path: "pod.yml" }] },
        },
      ],
    },
  });
  call("POST", mapsPath, {
    metadata: { name: `${name}-conf` },
    data: { "spark.properties": `#confs\n${text.join("\n")}\n` },
  });
  if (template !== undefined)
    call("POST", mapsPath, { metadata: { name: `${name}-template` }, data: { podspec: JSON.stringify(template) } });
};

/** Returns the exit code of a pod's first container. */
export const exitOf = (pod: Item | undefined): number | undefined =>
  numberAt(itemsAt(pod, "status", "containerStatuses")[0], "state", "terminated", "exitCode");

/** Returns the reason for which a pod's first container waits. */
export const waitsFor = (pod: Item | undefined): string | undefined =>
  textAt(itemsAt(pod, "status", "containerStatuses")[0], "state", "waiting", "reason");

/** Returns the status of a condition of a pod or node. */
export const condition = (item: Item | undefined, type: string): string | undefined =>
  textAt(
    itemsAt(item, "status", "conditions").find((each) => textAt(each, "type") === type),
    "status",
  );
