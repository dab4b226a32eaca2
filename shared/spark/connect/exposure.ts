/**
 * The way by which clients outside of the cluster reach a Connect server by gRPC: a GRPCRoute at the deployment's Gateway, or an
 * Ingress. A server runs without it as well.
 */
import type { Obj, Resource, Stored } from "../../core/object.ts";
import { apiVersionOf } from "../../core/object.ts";
import { derivedLabel } from "../../kube/names.ts";
import { grpcRoutes, ingresses } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { filled, gatewayOf } from "../auxiliary-objects/ingress.ts";
import type { Options } from "../auxiliary-objects/options.ts";
import { commonLabels, connectPort, controlled, type Server, serviceName } from "./objects.ts";

/** The options by which servers are reached; none is without `connectHostFormat`. */
export type ExposureOptions = Pick<
  Options,
  "connectHostFormat" | "uiGateway" | "ingressClassName" | "ingressAnnotations" | "ingressTls"
>;

export type Exposure = { readonly resource: Resource; readonly object: Obj };

/** By which ingress-nginx speaks gRPC to the server; others read annotations of the deployment. */
const speaksGrpc = { "nginx.ingress.kubernetes.io/backend-protocol": "GRPC" };

const ingressSpec = (host: string, service: string, { ingressClassName, ingressTls }: ExposureOptions): Json => ({
  rules: [
    {
      host,
      http: {
        paths: [
          { path: "/", pathType: "Prefix", backend: { service: { name: service, port: { number: connectPort } } } },
        ],
      },
    },
  ],
  ...(ingressTls.length === 0 ? {} : { tls: ingressTls }),
  ...(ingressClassName === "" ? {} : { ingressClassName }),
});

/** Returns the object that leads to a server; undefined where the deployment names no host for servers. */
export const exposureOf = (owner: Stored, server: Server, options: ExposureOptions): Exposure | undefined => {
  const { connectHostFormat: format, uiGateway, ingressAnnotations } = options;
  if (format === "") return undefined;
  const host = filled(format, { name: server.name, namespace: server.namespace, applicationId: "" });
  const service = serviceName(server);
  const isRoute = uiGateway !== "";
  const resource = isRoute ? grpcRoutes : ingresses;
  const spec = isRoute
    ? {
        parentRefs: [gatewayOf(uiGateway)],
        hostnames: [host],
        rules: [{ backendRefs: [{ name: service, port: connectPort }] }],
      }
    : ingressSpec(host, service, options);
  const name = derivedLabel(server.name, isRoute ? "route" : "ingress");
  const annotations = isRoute ? {} : { ...speaksGrpc, ...ingressAnnotations };
  const metadata = controlled(owner, name, commonLabels(server.name), annotations);
  return { resource, object: { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata, spec } };
};
