/** The arguments of the driver's container; as DriverCommandFeatureStep. */
import type { Conf } from "../../configuration/conf.ts";
import type { SparkPod } from "../pods/pod.ts";
import { inContainer, withEnv } from "../pods/pod.ts";
import type { Context, Contribution, Machine } from "./step.ts";

const pythonEnv = (conf: Conf, machine: Machine): { name: string; value: string }[] => {
  const python = conf.get("spark.pyspark.python") ?? machine.python;
  const driver =
    conf.get("spark.pyspark.driver.python") ??
    conf.get("spark.pyspark.python") ??
    machine.driverPython ??
    machine.python;
  return [
    ...(python === undefined ? [] : [{ name: "PYSPARK_PYTHON", value: python }]),
    ...(driver === undefined ? [] : [{ name: "PYSPARK_DRIVER_PYTHON", value: driver }]),
  ];
};

const argumentsOf = ({ program, proxyUser }: Context): string[] => [
  "driver",
  ...(proxyUser === undefined ? [] : ["--proxy-user", proxyUser]),
  "--properties-file",
  "/opt/spark/conf/spark.properties",
  "--class",
  program.mainClass,
  program.resource,
  ...program.arguments,
];

export const command = (context: Context): Contribution => ({
  pod: (pod: SparkPod): SparkPod => {
    const configured = inContainer(pod, { args: [...(pod.container.args ?? []), ...argumentsOf(context)] });
    return context.program.language === "python"
      ? withEnv(configured, pythonEnv(context.conf, context.machine))
      : configured;
  },
  confs: { "spark.kubernetes.resource.type": context.program.language },
});
