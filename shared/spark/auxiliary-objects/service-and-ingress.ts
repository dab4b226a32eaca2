/** A driver's port as a Service, and an Ingress to it. */

import { ingresses, services } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { type Address, isRoot } from "./address.ts";
import { type AuxiliaryObject, driverSelector, metadataOf, objectOf, type Subject } from "./object.ts";

type Texts = Readonly<Record<string, string>>;

export type Served = {
  readonly serviceType?: string | undefined;
  readonly serviceAnnotations?: Texts | undefined;
  readonly serviceLabels?: Texts | undefined;
};

export type Port = { readonly name: string; readonly port: number; readonly targetPort: number };

export const serviceOf = (subject: Subject, name: string, port: Port, served: Served): AuxiliaryObject => ({
  resource: services,
  optional: true,
  object: objectOf(
    services,
    metadataOf(subject, { name, labels: served.serviceLabels, annotations: served.serviceAnnotations }),
    { ports: [port], selector: driverSelector(subject.name), type: served.serviceType ?? "ClusterIP" },
  ),
});

type Ingress = {
  readonly name: string;
  readonly address: Address;
  readonly service: { readonly name: string; readonly port: number };
  readonly annotations: Texts;
  readonly tls: readonly Json[];
};

/** Removes the path in nginx, because the UI serves at the root. */
const rewrite = { "nginx.ingress.kubernetes.io/rewrite-target": "/$2" };

export const ingressOf = (subject: Subject, { name, address, service, annotations, tls }: Ingress): AuxiliaryObject => {
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

type Wished = { readonly ingressAnnotations?: Texts | undefined; readonly ingressTLS?: readonly Json[] | undefined };

/** Takes each field from the first that sets it, the deployment last. */
export const ingressWords = (
  { options }: Subject,
  ...wishes: readonly (Wished | undefined)[]
): { readonly annotations: Texts; readonly tls: readonly Json[] } => ({
  annotations:
    wishes.find((wish) => wish?.ingressAnnotations !== undefined)?.ingressAnnotations ?? options.ingressAnnotations,
  tls: wishes.find((wish) => wish?.ingressTLS !== undefined)?.ingressTLS ?? options.ingressTls,
});
