/**
 * A cluster on which one application runs, with hosts of both APIs of Spark's operators: their steps are the real engine's. The
 * driver runs until the test ends it.
 */

import { fieldsOf } from "../../../shared/core/json.ts";
import type { Obj } from "../../../shared/core/object.ts";
import { operatorsFor } from "../../../shared/deployments/common/operators.ts";
import { openWorld, operatorsByKind } from "../../../shared/deployments/common/step-dependencies.ts";
import type { Queue } from "../../../shared/engine/ports.ts";
import { take } from "../../../shared/engine/reconcile/intake.ts";
import { timing } from "../../../shared/engine/settings.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { installed, make } from "./terminal.ts";

export const groups = ["sparkoperator.k8s.io", "spark.apache.org"] as const;

export type Group = (typeof groups)[number];

const image = "apache/spark:4.1.1";
const jar = "local:///opt/spark/examples/jars/spark-examples.jar";

/** SparkPi in each API. */
const applications: Readonly<Record<Group, Obj>> = {
  "sparkoperator.k8s.io": {
    apiVersion: "sparkoperator.k8s.io/v1beta2",
    kind: "SparkApplication",
    metadata: { name: "pi", namespace: "default", labels: { team: "a" } },
    spec: {
      ...{ type: "Scala", sparkVersion: "4.1.1", image, mainClass: "org.example.Pi", mainApplicationFile: jar },
      ...{ driver: { memory: "512m", env: [{ name: "A", value: "b" }] }, executor: { instances: 2, memory: "512m" } },
    },
  },
  "spark.apache.org": {
    apiVersion: "spark.apache.org/v1",
    kind: "SparkApplication",
    metadata: { name: "pi", namespace: "default", finalizers: ["sparkapplications.spark.apache.org/finalizer"] },
    spec: {
      ...{ runtimeVersions: { sparkVersion: "4.1.1" }, mainClass: "org.example.Pi", jars: jar },
      sparkConf: { "spark.kubernetes.container.image": image, "spark.executor.instances": "2" },
    },
  },
};

export const otherOf = (group: Group): Group => (group === groups[0] ? groups[1] : groups[0]);

export type Moving = {
  readonly simulator: Simulator;
  /** Pods that were deleted, and driver pods that were created, in their order. */
  readonly deleted: string[];
  readonly drivers: string[];
  /** Both hosts take a step and two seconds pass, this many times. */
  readonly run: (steps: number) => Promise<void>;
  /** The application in this API, with its state; undefined when it is not there. */
  readonly seen: (group: Group) => { readonly object: Obj; readonly state: string } | undefined;
  /** The driver's pod. */
  readonly driver: () => Obj | undefined;
};

const stateOf = (object: Obj): string => {
  const { applicationState, currentState } = fieldsOf(object.status);
  return String(fieldsOf(applicationState)["state"] ?? fieldsOf(currentState)["currentStateSummary"] ?? "");
};

const queue: Queue = { send: async () => {}, sendLater: async () => {} };

/** Opens a cluster on which the application of this API runs with two executors. */
export const openMoving = async (group: Group, change: (object: Obj) => Obj = (object) => object): Promise<Moving> => {
  const simulator = openSimulator({ crds: installed([""]), scripts: { "*": [{ hangs: true, exitCode: 0 }] } });
  const deleted: string[] = [];
  const drivers: string[] = [];
  simulator.subscribe(({ type, table, object: { metadata } }) => {
    if (table !== "pods") return;
    if (type === "DELETED") deleted.push(metadata.name);
    if (type === "ADDED" && metadata.labels?.["spark-role"] === "driver") drivers.push(metadata.name);
  });
  const operatorOf = operatorsByKind(operatorsFor(timing));
  const take1 = async (kind: string): Promise<void> => {
    const world = await openWorld({ transport: simulator.transport, queue, report: () => {}, timing, operatorOf });
    await take(world, [{ cluster: "default", kind, namespace: "default", name: "pi", reason: "test" }]);
  };
  const run = async (steps: number): Promise<void> => {
    for (let at = 0; at < steps; at += 1) {
      for (const kind of ["SparkApplication", "ApacheSparkApplication"]) await take1(kind);
      simulator.clock.advanceTo(simulator.clock.now() + 2_000);
    }
  };
  const objectIn = (table: string, name: string): Obj | undefined => {
    const found = simulator.store.get(table, `default/${name}`);
    return found === undefined ? undefined : JSON.parse(JSON.stringify(found));
  };
  await make(simulator, change(applications[group]));
  await run(12);
  return {
    ...{ simulator, deleted, drivers, run },
    seen: (one) => {
      const object = objectIn(`sparkapplications.${one}`, "pi");
      return object === undefined ? undefined : { object, state: stateOf(object) };
    },
    driver: () => {
      const [name = ""] = drivers;
      return objectIn("pods", name);
    },
  };
};
