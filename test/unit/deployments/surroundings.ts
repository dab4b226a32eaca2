/** The surroundings of functions in tests of their wiring: a queue and a cluster over HTTP, both in this process. */

import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import { isRecord } from "../../../shared/core/json.ts";
import type { Obj } from "../../../shared/core/object.ts";

import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { apiServer } from "../../bench/fakes.ts";
import { crds } from "../../support/crds.ts";
import { openFake, type Reply } from "../adapters/sqs/fake.ts";

export const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

/** Returns a message as the queue delivers it to a function. */
export const record = (name: string, more: object = {}, attributes: object = {}) => ({
  messageId: name,
  body: JSON.stringify({
    ...{ cluster: "default", kind: "SparkApplication", namespace: "default", name, reason: "test" },
    ...more,
  }),
  attributes: { ApproximateReceiveCount: "1", ...attributes },
});

/** Runs a test with an SQS fake in this process; `bodies` lists the messages that were sent. */
export const withQueue = async (
  reply: (asked: { action: string; input: Record<string, unknown> }) => Reply,
  act: (
    env: { REKINDLE_FIFO_URL: string; REKINDLE_DELAY_URL: string },
    bodies: () => readonly Record<string, unknown>[],
  ) => Promise<void>,
): Promise<void> => {
  const fake = await openFake(reply);
  const bodies = (): readonly Record<string, unknown>[] =>
    fake.asked
      .filter(({ action }) => action.startsWith("SendMessage"))
      .flatMap(({ input }) => (Array.isArray(input["Entries"]) ? input["Entries"].filter(isRecord) : [input]))
      .map((entry) => JSON.parse(String(entry["MessageBody"] ?? "{}")));
  try {
    await act({ REKINDLE_FIFO_URL: `${fake.url}/0/keys.fifo`, REKINDLE_DELAY_URL: `${fake.url}/0/later` }, bodies);
  } finally {
    fake.close();
  }
};

const main = { type: "Scala", mainClass: "a.B", mainApplicationFile: "local:///a.jar" };
const spec = { ...main, sparkVersion: "4.1.1", image: "i", driver: {}, executor: {} };

/** Creates an application. */
export const create = async ({ transport }: Simulator, name: string): Promise<void> => {
  const object = { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", metadata: { name }, spec };
  await request(transport, "POST", applications, object);
};

/** Runs a test with a cluster on loopback that holds these applications. */
export const onCluster = async (
  names: readonly string[],
  act: (
    env: { REKINDLE_CLUSTER_RECORD: string },
    podsNow: () => Promise<readonly string[]>,
    simulator: Simulator,
  ) => Promise<void>,
  serves: readonly Obj[] = crds,
): Promise<void> => {
  const simulator = openSimulator({ crds: serves, rbac: true });
  const api = await apiServer(simulator);
  for (const name of names) await create(simulator, name);
  const podsNow = async (): Promise<readonly string[]> => {
    const { items } = await request(simulator.transport, "GET", "/api/v1/namespaces/default/pods");
    return [...JSON.stringify(items).matchAll(/"name":"([a-z]+-driver)"/g)].map(([, name = ""]) => name);
  };
  try {
    await act({ REKINDLE_CLUSTER_RECORD: JSON.stringify({ server: api.url }) }, podsNow, simulator);
  } finally {
    api.close();
  }
};
