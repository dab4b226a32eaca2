/** SparkPi as real Spark runs it on the test cluster: the image that the node agent knows, the jar that set-up compiles. */

const spec = {
  type: "Scala",
  mode: "cluster",
  sparkVersion: "4.1.1",
  image: "docker.io/apache/spark:4.1.1",
  mainClass: "org.apache.spark.examples.SparkPi",
  mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
  driver: { cores: 1, memory: "512m", serviceAccount: "spark" },
  executor: { instances: 1, cores: 1, memory: "512m" },
};

/** One in the namespace `default`, its spec laid over that of SparkPi with one executor. */
export const sparkPi = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: { ...spec, ...more },
});
