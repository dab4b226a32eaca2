/** SparkPi as real Spark runs it on the test cluster: the image of the node agent, the jar that set-up compiles. */

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

/** A SparkApplication in the namespace `default`: the fields of `more` replace those of SparkPi with one executor. */
export const sparkPi = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: { ...spec, ...more },
});
