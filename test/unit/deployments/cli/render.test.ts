/** The forecast of a migration: submissions as the hosts that come would make them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { forecast } from "../../../../shared/deployments/cli/render.ts";

const application: Stored = {
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "pi", namespace: "default", uid: "u", resourceVersion: "1" },
  spec: {
    type: "Scala",
    mode: "cluster",
    sparkVersion: "4.1.1",
    image: "spark:4.1.1",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
    mainClass: "org.apache.spark.examples.SparkPi",
    driver: { cores: 1, memory: "512m" },
    executor: { instances: 1, cores: 1, memory: "512m" },
  },
};

test("the forecast of an application is made with the confs of the deployment", () => {
  assert.equal(forecast(application, {}).refused, undefined);
  const confs = { "spark.kubernetes.driver.secretKeyRef.TOKEN": "secret" };
  assert.match(forecast(application, confs).refused ?? "", /secretKeyRef/);
});
