/** Services of a driver with an Ingress or, at a Gateway, an HTTPRoute: Spark's web UI with its address in the status, and the
 * ports of `spec.driverIngressOptions`. */

import type { Stored } from "../../core/object.ts";
import { derivedLabel } from "../../kube/names.ts";
import { typed } from "../../kube/objects.ts";
import { httpRoutes, ingresses, services } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { type AuxiliaryObject, driverSelector, metadataOf, objectOf, type Subject } from "./object.ts";

type Address = {
  readonly host: string;
  /** "" or "/" at the root. */
  readonly path: string;
  readonly text: string;
};

type Named = { readonly name: string; readonly namespace: string; readonly applicationId: string };

/** Fills a name, a namespace and an id into the format of an address. */
export const filled = (format: string, { name, namespace, applicationId }: Named): string =>
  format
    .replaceAll(/\{\{\s*\$appName\s*\}\}/g, name)
    .replaceAll(/\{\{\s*\$appNamespace\s*\}\}/g, namespace)
    .replaceAll(/\{\{\s*\$appId\s*\}\}/g, applicationId);

/** A format without a scheme means http. The host of an ingress has no port. */
const addressOf = (format: string, named: Named): Address => {
  const url = filled(format, named);
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  const [, host = "", path = ""] = /^[^:]+:\/\/([^/?#:]*)(?::\d+)?([^?#]*)/.exec(text) ?? [];
  return { host, path, text };
};

const isRoot = ({ path }: Address): boolean => path === "" || path === "/";

type Texts = Readonly<Record<string, string>>;

type Served = {
  readonly serviceType?: string | undefined;
  readonly serviceAnnotations?: Texts | undefined;
  readonly serviceLabels?: Texts | undefined;
};

type Port = { readonly name: string; readonly port: number; readonly targetPort: number };

const serviceOf = (subject: Subject, name: string, port: Port, served: Served): AuxiliaryObject => ({
  resource: services,
  optional: true,
  object: objectOf(
    services,
    metadataOf(subject, { name, labels: served.serviceLabels, annotations: served.serviceAnnotations }),
    { ports: [port], selector: driverSelector(subject.name), type: served.serviceType ?? "ClusterIP" },
  ),
});

type Route = {
  readonly name: string;
  readonly address: Address;
  readonly service: { readonly name: string; readonly port: number };
};

/** Removes the path in nginx, because the UI serves at the root. */
const rewrite = { "nginx.ingress.kubernetes.io/rewrite-target": "/$2" };

type Ingress = Route & { readonly annotations: Texts; readonly tls: readonly Json[] };

const ingressOf = (subject: Subject, { name, address, service, annotations, tls }: Ingress): AuxiliaryObject => {
  const root = isRoot(address);
  const path = {
    backend: { service: { name: service.name, port: { number: service.port } } },
    path: root ? address.path : `${address.path}(/|$)(.*)`,
    pathType: "ImplementationSpecific",
  };
  const className = subject.options.ingressClassName;
  return {
    resource: ingresses,
    optional: true,
    object: objectOf(
      ingresses,
      metadataOf(subject, { name, annotations: root ? annotations : { ...annotations, ...rewrite } }),
      {
        rules: [{ host: address.host, http: { paths: [path] } }],
        ...(tls.length === 0 ? {} : { tls }),
        ...(className === "" ? {} : { ingressClassName: className }),
      },
    ),
  };
};

/** The Gateway of the deployment as a route names it: see `Options.uiGateway`. */
export const gatewayOf = (text: string): Json => {
  const [namespace, name, sectionName] = text.split("/");
  return { namespace, name, ...(sectionName === undefined ? {} : { sectionName }) };
};

/** The route of an address at the deployment's Gateway, which has its certificates. The path is removed, as in an Ingress. */
const httpRouteOf = (subject: Subject, { name, address, service }: Route): AuxiliaryObject => {
  const toRoot = { type: "URLRewrite", urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" } } };
  const rule = {
    matches: [{ path: { type: "PathPrefix", value: isRoot(address) ? "/" : address.path } }],
    ...(isRoot(address) ? {} : { filters: [toRoot] }),
    backendRefs: [service],
  };
  return {
    resource: httpRoutes,
    optional: true,
    object: objectOf(httpRoutes, metadataOf(subject, { name }), {
      parentRefs: [gatewayOf(subject.options.uiGateway)],
      ...(address.host === "" ? {} : { hostnames: [address.host] }),
      rules: [rule],
    }),
  };
};

/** An Ingress, or a route where the deployment names a Gateway. */
const exposureOf = (subject: Subject, route: Route, ...sources: readonly (IngressOptions | undefined)[]) =>
  subject.options.uiGateway === ""
    ? ingressOf(subject, { ...route, ...ingressWords(subject, ...sources) })
    : httpRouteOf(subject, route);

type IngressOptions = {
  readonly ingressAnnotations?: Texts | undefined;
  readonly ingressTLS?: readonly Json[] | undefined;
};

/** Takes each field from the first that sets it, the deployment last. */
const ingressWords = (
  { options }: Subject,
  ...sources: readonly (IngressOptions | undefined)[]
): { readonly annotations: Texts; readonly tls: readonly Json[] } => ({
  annotations:
    sources.find((source) => source?.ingressAnnotations !== undefined)?.ingressAnnotations ??
    options.ingressAnnotations,
  tls: sources.find((source) => source?.ingressTLS !== undefined)?.ingressTLS ?? options.ingressTls,
});

const uiPort = 4_040;

export const uiServiceName = (name: string): string => derivedLabel(name, "ui-svc");

const targetPortOf = ({ sparkConf }: SparkApplicationSpec): number => {
  const text = sparkConf?.["spark.ui.port"] ?? "";
  return /^\d+$/.test(text) ? Number(text) : uiPort;
};

const portOf = (spec: SparkApplicationSpec): Port => {
  const { sparkUIOptions: options } = spec;
  const targetPort = targetPortOf(spec);
  return {
    name: options?.servicePortName ?? "spark-driver-ui-port",
    port: options === undefined ? targetPort : (options.servicePort ?? uiPort),
    targetPort,
  };
};

const uiRouteName = ({ name, options }: Pick<Subject, "name" | "options">): string =>
  derivedLabel(name, options.uiGateway === "" ? "ui-ingress" : "ui-route");

const ingressOfUi = (subject: Subject): AuxiliaryObject[] => {
  const { name, spec, options } = subject;
  if (options.ingressUrlFormat === "") return [];
  const service = { name: uiServiceName(name), port: portOf(spec).port };
  const address = addressOf(options.ingressUrlFormat, subject);
  return [exposureOf(subject, { name: uiRouteName(subject), address, service }, spec.sparkUIOptions)];
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
  const { spec, options } = subject;
  const { port } = portOf(spec);
  const { clusterIP: ip = "" } = typed("Service", service).spec ?? {};
  return {
    webUIServiceName: service.metadata.name,
    webUIPort: port,
    ...(ip === "" || ip === "None" ? {} : { webUIAddress: `${ip}:${port}` }),
    ...(options.ingressUrlFormat === ""
      ? {}
      : {
          webUIIngressName: uiRouteName(subject),
          webUIIngressAddress: addressOf(options.ingressUrlFormat, subject).text,
        }),
  };
};

type Entry = NonNullable<SparkApplicationSpec["driverIngressOptions"]>[number];

const companionsOfPort = (subject: Subject, entry: Entry): readonly AuxiliaryObject[] => {
  const { name, spec } = subject;
  const { servicePort: port, ingressURLFormat: format = "" } = entry;
  const service = { name: derivedLabel(name, `driver-${port}`), port };
  const served = serviceOf(subject, service.name, { name: entry.servicePortName, port, targetPort: port }, entry);
  if (format === "") return [served];
  const address = addressOf(format, subject);
  const suffix = subject.options.uiGateway === "" ? "ing" : "route";
  const route = { name: derivedLabel(name, `${suffix}-${port}`), address, service };
  return [served, exposureOf(subject, route, entry, spec.sparkUIOptions)];
};

/** `spec.driverIngressOptions`: further ports of the driver, each with a Service and, with a URL format, an Ingress. */
export const driverPortObjects = (subject: Subject): readonly AuxiliaryObject[] =>
  (subject.spec.driverIngressOptions ?? []).flatMap((entry) => companionsOfPort(subject, entry));
