/** Objects as reviews show them to the bell. */

export type Fields = Readonly<Record<string, unknown>>;

export const spark = {
  "sparkoperator.k8s.io/launched-by-spark-operator": "true",
  "sparkoperator.k8s.io/app-name": "app1",
};
export const executorLabels = { ...spark, "spark-role": "executor" };
export const jobLabels = { "volcano.sh/job-name": "vj" };

export const pod = (name: string, labels: Fields, status: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "ns", uid: `${name}-uid`, resourceVersion: "7", labels, ...metadata },
  spec: { containers: [] },
  status: { phase: "Pending", ...status },
});

export const application = (metadata: Fields = {}, status: Fields = {}) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "app1", namespace: "ns", uid: "app-uid", resourceVersion: "4", generation: 1, ...metadata },
  status,
});
