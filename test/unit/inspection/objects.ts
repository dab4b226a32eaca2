/** Objects of which the tests of status tell: a record, a driver's pod, and a status of an application that runs. */
import type { Obj } from "../../../shared/core/object.ts";

/** The clock of a terminal, epoch ms. */
export const start = Date.UTC(2026, 10, 2, 8, 0, 0);

export const checkpoint = (name: string, record: Readonly<Record<string, unknown>>): Obj => ({
  apiVersion: "rekindle.dev/v1alpha1",
  kind: "Checkpoint",
  metadata: { name: `sparkapplication.${name}`, namespace: "default" },
  spec: { schema: 1, cluster: "c", uid: "u", saves: 3, memory: { attempt: 1 }, ...record },
});

export const driver = (name: string, status: Readonly<Record<string, unknown>>): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: `${name}-driver`,
    namespace: "default",
    labels: { "sparkoperator.k8s.io/app-name": name, "spark-role": "driver" },
    ownerReferences: [{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", name, uid: "" }],
  },
  spec: { containers: [{ name: "spark-kubernetes-driver", image: "example/spark:1" }] },
  status,
});

export const running = { applicationState: { state: "RUNNING" }, lastSubmissionAttemptTime: "2026-11-02T07:58:00Z" };
