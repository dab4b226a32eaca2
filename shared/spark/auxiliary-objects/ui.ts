/** Spark's web UI: its Service and Ingress, the confs for a path, and its information in the status. */
import { createHash } from "node:crypto";
import type { Stored } from "../../core/object.ts";
import { isRecord } from "../../kube/responses.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { addressOf, isRoot } from "./address.ts";
import type { AuxiliaryObject, Subject } from "./object.ts";
import { ingressOf, ingressWords, type Port, serviceOf } from "./service-and-ingress.ts";

const uiPort = 4_040;

/** A name; one over 63 characters is cut and gets eight digits of the MD5 of the whole, as upstream's. */
const named = (name: string, suffix: string): string => {
  const whole = `${name}-${suffix}`;
  if (whole.length <= 63) return whole;
  const hash = createHash("md5").update(whole).digest("hex").slice(0, 8);
  return `${name.slice(0, 63 - suffix.length - 10)}-${hash}-${suffix}`;
};

export const uiServiceName = (name: string): string => named(name, "ui-svc");

const targetPortOf = ({ sparkConf }: SparkApplicationSpec): number => {
  const text = sparkConf?.["spark.ui.port"] ?? "";
  return /^\d+$/.test(text) ? Number(text) : uiPort;
};

const portOf = (spec: SparkApplicationSpec): Port => {
  const { sparkUIOptions: asked } = spec;
  const targetPort = targetPortOf(spec);
  return {
    name: asked?.servicePortName ?? "spark-driver-ui-port",
    port: asked === undefined ? targetPort : (asked.servicePort ?? uiPort),
    targetPort,
  };
};

const ingressOfUi = (subject: Subject): AuxiliaryObject[] => {
  const { name, spec, options } = subject;
  if (options.ingressUrlFormat === "") return [];
  const service = { name: uiServiceName(name), port: portOf(spec).port };
  const address = addressOf(options.ingressUrlFormat, subject);
  const words = ingressWords(subject, spec.sparkUIOptions);
  return [ingressOf(subject, { name: named(name, "ui-ingress"), address, service, ...words })];
};

export const uiObjects = (subject: Subject): readonly AuxiliaryObject[] => {
  const { name, spec, options } = subject;
  if (!options.uiService) return [];
  return [serviceOf(subject, uiServiceName(name), portOf(spec), spec.sparkUIOptions ?? {}), ...ingressOfUi(subject)];
};

/** Adds confs for an ingress with a path: the UI writes its links below it. */
export const withProxy = (spec: SparkApplicationSpec, subject: Omit<Subject, "driverPodName" | "spec">) => {
  const { uiService, ingressUrlFormat } = subject.options;
  if (!uiService || ingressUrlFormat === "") return spec;
  const address = addressOf(ingressUrlFormat, subject);
  if (isRoot(address)) return spec;
  const proxied = { "spark.ui.proxyBase": address.path, "spark.ui.proxyRedirectUri": "/" };
  return { ...spec, sparkConf: { ...spec.sparkConf, ...proxied } };
};

/** `driverInfo` of a run whose UI service exists. */
export const uiInfo = (subject: Subject, service: Stored): Readonly<Record<string, unknown>> => {
  const { name, spec, options } = subject;
  const { port } = portOf(spec);
  const given = service["spec"];
  const ip = isRecord(given) && typeof given["clusterIP"] === "string" ? given["clusterIP"] : "";
  return {
    webUIServiceName: service.metadata.name,
    webUIPort: port,
    ...(ip === "" || ip === "None" ? {} : { webUIAddress: `${ip}:${port}` }),
    ...(options.ingressUrlFormat === ""
      ? {}
      : {
          webUIIngressName: named(name, "ui-ingress"),
          webUIIngressAddress: addressOf(options.ingressUrlFormat, subject).text,
        }),
  };
};
