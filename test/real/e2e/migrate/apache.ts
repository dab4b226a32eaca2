/**
 * A stand-in of Apache's Spark operator: a Deployment that stays, its properties, and an application that it has submitted. It
 * elects no leader, as one with a single replica.
 */
import * as z from "zod";
import type { Obj } from "../../../../shared/core/object.ts";
import { readApache } from "../../../../shared/spark/apache/spec/read.ts";
import { submitApache } from "../../../../shared/spark/apache/submission.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { apachePi, finalizer } from "../apache/applications.ts";
import { kubectl } from "../scene.ts";
import { stays } from "./kubeflow.ts";
import { applyAll, stored } from "./upstream.ts";

export const home = "spark-operator";
export const operator = "spark-kubernetes-operator";

const configuration = `${operator}-configuration`;

const properties = `spark.kubernetes.operator.namespace=${home}
spark.kubernetes.operator.name=${operator}
spark.kubernetes.operator.watchedNamespaces=default
`;

/** Installs the operator and waits until its pod runs. */
export const installApache = async (cluster: Cluster): Promise<void> => {
  const labels = { "app.kubernetes.io/name": operator };
  const container = { name: operator, image: `example.org/${operator}:1.0.0`, command: stays };
  await applyAll(cluster, [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: home } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: operator, namespace: home } },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: configuration, namespace: home },
      data: { "spark-operator.properties": properties },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: operator, namespace: home, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 2,
            containers: [container],
            volumes: [{ name: "configuration", configMap: { name: configuration } }],
          },
        },
      },
    },
  ]);
  await kubectl(cluster, ["-n", home, "rollout", "status", `deployment/${operator}`, "--timeout=90s"]);
};

export const applications = "/apis/spark.apache.org/v1/namespaces/default/sparkapplications";

const isOurs = (key: string): boolean => key.startsWith("rekindle.dev/");

/** An object as upstream submits it: without the marks of Rekindle. */
const bare = (object: Obj): Obj => {
  const { labels = {} } = object.metadata;
  const data = z.record(z.string(), z.string()).safeParse(object["data"]).data ?? {};
  const kept = Object.entries(data).map(([name, text]) => [
    name,
    text
      .split("\n")
      .filter((line) => !/rekindle/i.test(line))
      .join("\n"),
  ]);
  return {
    ...object,
    metadata: {
      ...object.metadata,
      labels: Object.fromEntries(Object.entries(labels).filter(([key]) => !isOurs(key))),
    },
    ...(object.kind === "ConfigMap" ? { data: Object.fromEntries(kept) } : {}),
  };
};

const summaries = ["Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy"];

/** Creates an application with a real driver as upstream submits it; its status shows that it runs. Returns the driver's UID. */
export const leaveRunning = async (cluster: Cluster, name: string, slices: number): Promise<string> => {
  const object = apachePi(name, "4.1.1", { driverArgs: [String(slices)] });
  await applyAll(cluster, [{ ...object, metadata: { ...object.metadata, finalizers: [finalizer] } }]);
  const path = `${applications}/${name}`;
  const found = await stored(cluster.api, path);
  const read = readApache(found);
  if (!read.ok) throw new Error(read.message);
  const app = { name, namespace: "default", uid: found.metadata.uid };
  const made = submitApache({ app, spec: read.spec, attempt: 0, operatorName: operator });
  if ("refused" in made) throw new Error(made.refused);
  await applyAll(cluster, [...made.before, made.driver].map(bare));
  await kubectl(cluster, ["wait", "--for=condition=Ready", `pod/${name}-0-driver`, "--timeout=180s"]);
  const states = summaries.map((currentStateSummary, at) => ({
    ...{ currentStateSummary, lastTransitionTime: new Date(Date.now() - 60_000 + at * 1_000).toISOString() },
    message: "as upstream says it",
  }));
  const status = {
    currentState: states.at(-1),
    stateTransitionHistory: Object.fromEntries(states.map((state, at) => [`${at}`, state])),
    currentAttemptSummary: {
      attemptInfo: { id: 0, restartCounter: 0, failureRestartCounter: 0, schedulingFailureRestartCounter: 0 },
    },
  };
  const { status: code, body } = await cluster.api.call("PUT", `${path}/status`, {
    ...(await stored(cluster.api, path)),
    status,
  });
  if (code !== 200) throw new Error(`${path}/status: ${JSON.stringify(body)}`);
  return (await stored(cluster.api, `/api/v1/namespaces/default/pods/${name}-0-driver`)).metadata.uid;
};
