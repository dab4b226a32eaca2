/** kubeflow's operator of Spark applications, with real spark-submit; drivers are pods of the bench. Its webhook is not installed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { controllerOf } from "../../../real/setup/controllers.ts";
import { ensure } from "../../../real/setup/ensure.ts";
import { sparkHome } from "../../../real/setup/spark.ts";
import { administrator, apply } from "../../accounts.ts";
import type { Program, Subject } from "../../subject.ts";
import { at, listAt, textAt } from "../../values.ts";
import { applications } from "../rekindle/applications.ts";
import { rows } from "../rekindle/rows.ts";

const { version, dir, definitions } = controllerOf("spark-operator");

const programOf = (kubeconfig: string): Program => {
  const config: unknown = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const server = new URL(textAt(at(listAt(config, "clusters")[0], "cluster"), "server"));
  return {
    command: [
      ...[join(dir, "spark-operator"), "controller", "start", "--leader-election=false", "--zap-log-level=info"],
      // As its chart has them.
      ...["--namespaces=", "--controller-threads=10", "--enable-ui-service=true", "--health-probe-bind-address=0"],
    ],
    env: {
      KUBECONFIG: kubeconfig,
      SPARK_HOME: sparkHome("4.0.4"),
      KUBERNETES_SERVICE_HOST: server.hostname,
      KUBERNETES_SERVICE_PORT: server.port,
      SPARK_SUBMIT_OPTS: "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    },
  };
};

export const sparkOperator: Subject = {
  name: "spark-operator",
  install: async (plane) => {
    await ensure(["spark", "spark-operator"]);
    await apply(plane, await definitions());
    return await administrator(plane, "spark-operator");
  },
  program: (kubeconfigOf) => programOf(kubeconfigOf("spark-operator")),
  version: async () => version,
  rows,
  scenarios: applications,
};
