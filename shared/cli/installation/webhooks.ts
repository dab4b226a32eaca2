/** The webhook configurations of admission: names of our own, our kinds only, and nobody waits for long when nobody answers. */
import { apiVersionOf, type Obj, type Resource } from "../../core/object.ts";
import { memoryLimitMark } from "../../kube/admission.ts";
import { mutatingWebhooks, validatingWebhooks } from "../../kube/resources.ts";
import { ours } from "./marks.ts";
import { expressionsFor, type Places } from "./places.ts";

/** How the API server reaches admission. */
export type Reach =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } };

export type Registration = {
  readonly reach: Reach;
  /** PEM; undefined: the authorities that the API server's machine trusts, or what somebody else fills in. */
  readonly ca: string | undefined;
} & Places;

/** The same for both configurations, and the one name that the host may change. */
export const registered = "rekindle";

const writes = ["CREATE", "UPDATE"];

const sparkRule = (apiVersion: string, ...resources: readonly string[]) => ({
  operations: writes,
  apiGroups: ["sparkoperator.k8s.io"],
  apiVersions: [apiVersion],
  resources,
  scope: "Namespaced",
});

const clientOf = ({ reach, ca }: Registration, path: string) => ({
  ...("url" in reach ? { url: `${reach.url.replace(/\/$/, "")}${path}` } : { service: { ...reach.service, path } }),
  ...(ca === undefined ? {} : { caBundle: Buffer.from(ca).toString("base64") }),
});

const within = (places: Registration) => {
  const matchExpressions = expressionsFor(places);
  return matchExpressions.length === 0 ? {} : { namespaceSelector: { matchExpressions } };
};

const webhook = (registration: Registration, path: string, own: object) => ({
  ...own,
  clientConfig: clientOf(registration, path),
  ...within(registration),
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  failurePolicy: "Ignore",
  timeoutSeconds: 3,
});

const pod = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], scope: "Namespaced" };

const configuration = ({ kind, ...resource }: Resource, webhooks: readonly object[]): Obj => ({
  apiVersion: apiVersionOf({ kind, ...resource }),
  kind,
  metadata: { name: registered, labels: ours },
  webhooks,
});

/** Both configurations. */
export const webhookConfigurations = (registration: Registration): readonly Obj[] => [
  configuration(mutatingWebhooks, [
    webhook(registration, "/mutate", {
      name: "sparkapplications.rekindle.dev",
      rules: [sparkRule("v1beta2", "sparkapplications")],
    }),
    webhook(registration, "/mutate", {
      name: "executors.rekindle.dev",
      rules: [pod],
      objectSelector: { matchExpressions: [{ key: memoryLimitMark, operator: "Exists" }] },
    }),
  ]),
  configuration(validatingWebhooks, [
    webhook(registration, "/validate", {
      name: "spark.rekindle.dev",
      rules: [
        sparkRule("v1beta2", "sparkapplications", "scheduledsparkapplications"),
        sparkRule("v1alpha1", "sparkconnects"),
      ],
    }),
  ]),
];
