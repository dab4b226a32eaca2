/** The headless service by which executors find their driver; as DriverServiceFeatureStep. */
import type { Json } from "../../../kube/responses.ts";
import { below, countOf, flagOf } from "../../configuration/conf.ts";
import { connectPortOf, ports } from "./basic.ts";
import type { Context, Contribution } from "./step.ts";

const portsOf = ({ conf, rules }: Context): Json[] => {
  const row = (name: string, port: number): Json => ({ name, port, targetPort: port });
  const connect = row("spark-connect", connectPortOf(conf));
  const served = [
    row("driver-rpc-port", countOf(conf, "spark.driver.port", ports.driver)),
    row("blockmanager", countOf(conf, "spark.driver.blockManager.port", ports.blockManager)),
    row("spark-ui", countOf(conf, "spark.ui.port", ports.ui)),
  ];
  if (rules.connectPort === "none") return served;
  return [...served, rules.connectPort === "named" ? { ...connect, appProtocol: "grpc" } : connect];
};

const specOf = (context: Context): Json => ({
  clusterIP: "None",
  ipFamilyPolicy: context.conf.get("spark.kubernetes.driver.service.ipFamilyPolicy") ?? "SingleStack",
  ipFamilies: (context.conf.get("spark.kubernetes.driver.service.ipFamilies") ?? "IPv4").split(","),
  ...(context.rules.securityContext
    ? { publishNotReadyAddresses: flagOf(context.conf, "spark.kubernetes.driver.service.publishNotReadyAddresses") }
    : {}),
  selector: context.labels,
  ports: portsOf(context),
});

export const service = (context: Context): Contribution => {
  const { conf, identity, namespace } = context;
  const annotations = below(conf, "spark.kubernetes.driver.service.annotation.");
  return {
    confs: {
      "spark.driver.host": `${identity.serviceName}.${namespace}.svc`,
      "spark.driver.port": `${countOf(conf, "spark.driver.port", ports.driver)}`,
      "spark.driver.blockManager.port": `${countOf(conf, "spark.driver.blockManager.port", ports.blockManager)}`,
    },
    objects: [
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: {
          name: identity.serviceName,
          labels: {
            "spark-app-selector": context.applicationId,
            ...below(conf, "spark.kubernetes.driver.service.label."),
          },
          ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
        },
        spec: specOf(context),
      },
    ],
  };
};
