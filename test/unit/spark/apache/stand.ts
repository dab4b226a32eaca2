/**
 * Applications of `spark.apache.org` on a simulated cluster, whose steps the real engine takes: a process may die at any
 * call of a step, before or after the server has served it.
 */
import { isRecord } from "../../../../shared/core/json.ts";
import type { Message } from "../../../../shared/core/key.ts";
import { gangs } from "../../../../shared/deployments/common/gangs.ts";
import { kindSettings } from "../../../../shared/deployments/common/kind-settings.ts";
import { openWorld, operatorsByKind } from "../../../../shared/deployments/common/step-dependencies.ts";
import type { Queue } from "../../../../shared/engine/ports.ts";
import { take } from "../../../../shared/engine/reconcile/intake.ts";
import { timing } from "../../../../shared/engine/settings.ts";
import { collectionPath } from "../../../../shared/kube/paths.ts";
import type { DriverScript } from "../../../../shared/simulator/nodes/script.ts";
import { openSimulator, type Simulator } from "../../../../shared/simulator/open.ts";
import { apacheSparkApplicationOperator } from "../../../../shared/spark/apache/operator.ts";
import { apacheApplications } from "../../../../shared/spark/apache/resource.ts";
import { recordIn } from "../../../../shared/spark/apache/status/record.ts";
import type { Summary } from "../../../../shared/spark/apache/status/summary.ts";
import { crds } from "../../../support/crds.ts";
import { type Fields, pi } from "./fixtures.ts";

const { group, version, plural, kind } = apacheApplications;

const table = `${plural}.${group}`;
const place = "default/pi";
const recordName = "apachesparkapplication.pi";

/** The write at which a process dies, counted over all steps from 1 on. */
export type Death = {
  readonly write: number;
  /** When the server carries the write out; "late": after four more steps, when the next process has been at work. */
  readonly served: "never" | "before" | "late";
};

const lateSteps = 4;

export type State = { readonly number: number; readonly summary: Summary };

export type Stand = {
  readonly simulator: Simulator;
  /** Writes so far. */
  readonly writes: () => number;
  /** Names of the driver pods that were created, in order. */
  readonly drivers: readonly string[];
  /** Takes a step and lets three seconds pass, this many times. */
  readonly run: (steps: number) => Promise<void>;
  /** The states of the application, those of the attempt before first, each with its number; undefined when it is gone. */
  readonly states: () => readonly State[] | undefined;
  /** Kinds and names of the objects of all attempts. */
  readonly left: () => readonly string[];
  /** The reasons of its Events. */
  readonly told: () => readonly string[];
  /** The messages of its states. */
  readonly messages: () => readonly string[];
  /** The text of its record. */
  readonly record: () => string;
  /** Ends the process of its first executor. */
  readonly killExecutor: () => void;
  readonly request: (method: string, path: string, body?: unknown, type?: string) => number;
};

const collection = collectionPath(apacheApplications, "default");

export const pathOf = (name = "pi"): string => `${collection}/${name}`;

export type Given = {
  readonly spec: Fields;
  readonly metadata?: Fields | undefined;
  readonly scripts: readonly DriverScript[];
  /** Groups start by plans: `gang: builtin`. */
  readonly gang?: boolean;
  /** How often each step is taken to have been tried before. */
  readonly tries?: number;
};

export const openStand = ({ spec, metadata = {}, scripts, gang, tries = 0 }: Given, death?: Death): Stand => {
  const simulator = openSimulator({ crds, scripts: { "*": scripts } });
  const drivers: string[] = [];
  let writes = 0;
  let died: (() => void) | undefined;
  let late: { steps: number; readonly serve: () => unknown } | undefined;
  const never = () => new Promise<never>(() => {});
  const transport = {
    ...simulator.transport,
    send: async (request: Parameters<typeof simulator.handle>[0]) => {
      if (died === undefined) return never();
      if (request.method !== "GET") writes += 1;
      const isLast = request.method !== "GET" && writes === death?.write;
      if (!isLast) return simulator.handle(request);
      if (death?.served === "before") simulator.handle(request);
      if (death?.served === "late") late = { steps: lateSteps, serve: () => simulator.handle(request) };
      died();
      died = undefined;
      return never();
    },
  };
  const queue: Queue = { send: async () => {}, sendLater: async () => {} };
  const operatorOf = operatorsByKind([
    apacheSparkApplicationOperator(kindSettings(gang === true ? { queues: { gang: "builtin" } } : {}, { gangs })),
  ]);
  const message: Message = {
    cluster: "here",
    kind: "ApacheSparkApplication",
    namespace: "default",
    name: "pi",
    reason: "test",
    tries,
  };
  const step = async (): Promise<void> => {
    const end = new Promise<void>((resolve) => {
      died = resolve;
    });
    const world = openWorld({ transport, queue, report: () => {}, timing, operatorOf });
    await Promise.race([end, world.then((opened) => take(opened, [message]))]);
    died = undefined;
  };
  const request: Stand["request"] = (method, path, body, type = "application/json") => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return simulator.handle({ method, path, headers: { "content-type": type }, body: text }).status;
  };
  simulator.subscribe(({ type, table: changed, object: { metadata } }) => {
    if (type === "ADDED" && changed === "pods" && metadata.labels?.["spark-role"] === "driver")
      drivers.push(metadata.name);
  });
  request("POST", collection, {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: "pi", namespace: "default", ...metadata },
    spec: { ...pi, ...spec },
  });
  return {
    simulator,
    writes: () => writes,
    drivers,
    run: async (steps) => {
      for (let at = 0; at < steps; at += 1) {
        await step();
        simulator.clock.advanceTo(simulator.clock.now() + 3_000);
        if (late !== undefined) late.steps -= 1;
        if (late?.steps === 0) late.serve();
      }
    },
    states: () => {
      const app = simulator.store.get(table, place);
      if (app === undefined) return undefined;
      const record = recordIn(app["status"]);
      return record === undefined ? [] : [...(record.previous?.history ?? []), ...record.history];
    },
    left: () =>
      ["pods", "services", "configmaps", "networkpolicies.networking.k8s.io"].flatMap((one) =>
        simulator.store
          .list(one)
          .filter(
            ({ metadata }) => isRecord(metadata.labels) && metadata.labels["spark.operator/spark-app-name"] === "pi",
          )
          .map(({ metadata }) => `${one} ${metadata.name}`),
      ),
    told: () => simulator.store.list("events").map((event) => String(event["reason"])),
    messages: () =>
      recordIn(simulator.store.get(table, place)?.["status"])?.history.map(({ message = "" }) => message) ?? [],
    record: () => JSON.stringify(simulator.store.get("checkpoints.rekindle.dev", `default/${recordName}`)),
    killExecutor: () => {
      const [first] = simulator.store
        .list("pods")
        .filter(({ metadata }) => metadata.labels?.["spark-role"] === "executor");
      if (first !== undefined) simulator.killPod("default", first.metadata.name, { code: 1 });
    },
    request,
  };
};
