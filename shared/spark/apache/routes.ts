/**
 * The objects that Apache's SparkApplication lists beside its driver: ConfigMaps as they are written, and Services with
 * an Ingress, an HTTPRoute or a GRPCRoute each. Only what an entry leaves out is added: rules that lead to the first port
 * of its Service, and a selector for the driver of the attempt.
 */
import { fieldsOf, recordsIn, textsIn } from "../../core/json.ts";
import { apiVersionOf, type Metadata, type Obj } from "../../core/object.ts";
import { grpcRoutes, httpRoutes } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import type { ApacheSpec } from "./spec/schema.ts";

type Labels = Readonly<Record<string, string>>;

export const configMapsOf = ({ configMapSpecs = [] }: ApacheSpec): readonly Obj[] =>
  configMapSpecs.map(({ name, labels, annotations, data }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(data === undefined ? {} : { data }),
  }));

/** The part of a written metadata that its author decides: an owner, a finalizer or another namespace it may not name. */
const metadataIn = (value: Json): Metadata => ({
  name: String(value["name"]),
  ...(value["labels"] === undefined ? {} : { labels: textsIn(value["labels"]) }),
  ...(value["annotations"] === undefined ? {} : { annotations: textsIn(value["annotations"]) }),
});

type Served = { readonly serviceMetadata: Json; readonly serviceSpec: Json };

const serviceOf = ({ serviceMetadata, serviceSpec }: Served, driver: Labels): Obj => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: metadataIn(serviceMetadata),
  spec: Object.keys(fieldsOf(serviceSpec["selector"])).length > 0 ? serviceSpec : { ...serviceSpec, selector: driver },
});

/** The first port of an entry's Service; undefined where it has none. */
const firstPort = ({ serviceSpec }: Served): unknown => recordsIn(serviceSpec["ports"])[0]?.["port"];

/** Adds rules where there are none: all else that the spec says stays, its class and its certificates among it. */
const withRules = (spec: Json, port: unknown, rule: Json): Json =>
  recordsIn(spec["rules"]).length > 0 || port === undefined ? spec : { ...spec, rules: [rule] };

const objectOf = (type: Pick<Obj, "apiVersion" | "kind">, metadata: Json, spec: Json): Obj => ({
  ...type,
  metadata: metadataIn(metadata),
  spec,
});

const ingressType = { apiVersion: "networking.k8s.io/v1", kind: "Ingress" };
const httpRouteType = { apiVersion: apiVersionOf(httpRoutes), kind: httpRoutes.kind };
const grpcRouteType = { apiVersion: apiVersionOf(grpcRoutes), kind: grpcRoutes.kind };

/** The Services with their Ingresses and routes. `driver`: the labels of the attempt's driver pod. */
export const routedOf = (spec: ApacheSpec, driver: Labels): readonly Obj[] => {
  const { driverServiceIngressList = [], driverHttpRouteList = [], driverGrpcRouteList = [] } = spec;
  const ingresses = driverServiceIngressList.flatMap((entry) => {
    const [name, port] = [entry.serviceMetadata["name"], firstPort(entry)];
    const backend = { service: { name, port: { number: port } } };
    const rule = { http: { paths: [{ path: "/", pathType: "ImplementationSpecific", backend }] } };
    return [
      serviceOf(entry, driver),
      objectOf(ingressType, entry.ingressMetadata, withRules(entry.ingressSpec ?? {}, port, rule)),
    ];
  });
  const backendRefs = (entry: Served) => [
    { group: "", kind: "Service", name: entry.serviceMetadata["name"], port: firstPort(entry) },
  ];
  const http = driverHttpRouteList.flatMap((entry) => {
    const rule = { matches: [{ path: { type: "PathPrefix", value: "/" } }], backendRefs: backendRefs(entry) };
    const routed = withRules(entry.httpRouteSpec ?? {}, firstPort(entry), rule);
    return [serviceOf(entry, driver), objectOf(httpRouteType, entry.httpRouteMetadata, routed)];
  });
  const grpc = driverGrpcRouteList.flatMap((entry) => {
    const routed = withRules(entry.grpcRouteSpec ?? {}, firstPort(entry), { backendRefs: backendRefs(entry) });
    return [serviceOf(entry, driver), objectOf(grpcRouteType, entry.grpcRouteMetadata, routed)];
  });
  return [...ingresses, ...http, ...grpc];
};
