/** A submitter on a simulated cluster, the requests of an operator's RestSubmitter, and bad requests. */
import * as z from "zod";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import type { HttpRequest, HttpResponse, Transport } from "../../../shared/core/http.ts";
import { submitterApp } from "../../../shared/deployments/submitter/function.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";

export const url = "http://submitter/api/v1/spark-submit";
export const id = "550e8400-e29b-41d4-a716-446655440000";

export const args = [
  ...["--master", "k8s://https://kubernetes.default.svc:443", "--deploy-mode", "cluster"],
  ...["--class", "org.apache.spark.examples.SparkPi", "--name", "spark-pi"],
  ...["--conf", "spark.kubernetes.namespace=default", "--conf", "spark.kubernetes.container.image=spark:4.0.4"],
  ...["--conf", "spark.kubernetes.driver.pod.name=spark-pi-driver"],
  ...["--conf", `spark.kubernetes.driver.label.sparkoperator.k8s.io/submission-id=${id}`],
  ...["--conf", "spark.kubernetes.driver.label.sparkoperator.k8s.io/app-name=spark-pi"],
  ...["local:///opt/spark/examples/jars/spark-examples.jar", "5000"],
];

const owner = { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", name: "spark-pi", uid: "app-1" };
const template = (container: string, controller: boolean) => ({
  metadata: { ownerReferences: [controller ? { ...owner, controller, blockOwnerDeletion: true } : owner] },
  spec: { containers: [{ name: container, resources: {} }] },
});

export const body = {
  submission_id: id,
  spark_submit_args: args,
  driver_pod_template: template("spark-kubernetes-driver", true),
  executor_pod_template: template("spark-kubernetes-executor", false),
};

const text = z.string().optional();
export const answer = z.object({
  ...{ submission_id: text, app_name: text, namespace: text, driver_pod_name: text, driver_pod_uid: text },
  ...{ spark_app_id: text, error_code: text, message: z.string().default("") },
  duplicate_submission: z.boolean().optional(),
});

type Fault = (request: HttpRequest) => HttpResponse | "lost" | undefined;

export const refusal = (status: number, reason: string): HttpResponse => ({
  status,
  headers: { date: new Date(0).toUTCString() },
  body: JSON.stringify({ kind: "Status", status: "Failure", code: status, reason, message: `${reason} by a test` }),
});

export const stand = (fault: Fault = () => undefined, atOnce = 64) => {
  const simulator = openSimulator({});
  const transport: Transport = {
    ...simulator.transport,
    send: async (request) => {
      const met = fault(request);
      if (met === "lost") throw new Error("died");
      return met ?? (await simulator.transport.send(request));
    },
  };
  const app = submitterApp({
    cluster: openCluster(transport),
    sparkVersion: "4.1.1",
    now: () => Date.UTC(2026, 10, 2),
    atOnce,
  });
  const post = async (sent: unknown, headers: Record<string, string> = { "content-type": "application/json" }) => {
    const text = typeof sent === "string" ? sent : JSON.stringify(sent);
    const response = await app.request(url, { method: "POST", body: text, headers });
    return { status: response.status, ...answer.parse(await response.json()) };
  };
  return { simulator, app, post };
};

export const objects = ({ store }: Simulator): readonly string[] =>
  ["pods", "services", "configmaps"].flatMap((table) =>
    store
      .list(table)
      .flatMap(({ metadata: { name, namespace } }) =>
        namespace === "default" && name !== "kube-root-ca.crt" && name !== "kubernetes" ? [`${table} ${name}`] : [],
      ),
  );
