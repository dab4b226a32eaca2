/** The webhook configurations of admission: own names, only Rekindle's kinds, a short timeout, failurePolicy Ignore. */
import { apiVersionOf, type Obj, type Resource } from "../../core/object.ts";
import { memoryLimitMark, noPodRules, type PodRules, podsWrittenTo } from "../../kube/admission.ts";
import { type Family, mutatingWebhooks, validatingWebhooks } from "../../kube/resources.ts";
import { expressionsFor, type Places } from "./policies/policy.ts";
import { ourLabels } from "./roles.ts";

/** The address of admission for the API server. */
export type Reach =
  | { readonly url: string }
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port: number } };

export type Registration = {
  readonly reach: Reach;
  /** PEM; undefined: an authority that the API server's machine trusts, or one that another controller fills in. */
  readonly ca: string | undefined;
  /** Families that are run here and whose kinds the cluster has. */
  readonly families: readonly Family[];
  /** Rules by which admission changes pods; absent: none, and no pods are sent to it for that. */
  readonly pods?: PodRules | undefined;
} & Places;

/** Name of both configurations, the only name that the host may patch. */
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

/** The selector of the namespaces of a deployment; none for all. */
export const namespacesIn = (places: Places) => {
  const matchExpressions = expressionsFor(places);
  return matchExpressions.length === 0 ? {} : { namespaceSelector: { matchExpressions } };
};

const webhook = (registration: Registration, path: string, own: object) => ({
  ...own,
  clientConfig: clientOf(registration, path),
  ...namespacesIn(registration),
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  failurePolicy: "Ignore",
  timeoutSeconds: 3,
});

const volcanoRule = (group: string, apiVersion: string, resources: readonly string[], operations = writes) => ({
  operations,
  apiGroups: [`${group}.volcano.sh`],
  apiVersions: [apiVersion],
  resources,
  scope: "Namespaced",
});

const queueRule = (operations: readonly string[]) => ({
  ...volcanoRule("scheduling", "v1beta1", ["queues"], [...operations]),
  scope: "Cluster",
});

/** Matches pods with a budget annotation of Volcano. The API server evaluates it, so it sends no other pods. */
const budgeted = {
  name: "has-a-budget-of-volcano",
  expression:
    "has(object.metadata.annotations) && ('volcano.sh/jdb-min-available' in object.metadata.annotations || 'volcano.sh/jdb-max-unavailable' in object.metadata.annotations)",
} as const;

const pod = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], scope: "Namespaced" };

const configuration = ({ kind, ...resource }: Resource, webhooks: readonly object[]): Obj => ({
  apiVersion: apiVersionOf({ kind, ...resource }),
  kind,
  metadata: { name: registered, labels: ourLabels },
  webhooks,
});

const created = ["CREATE"];

const podMutating = (registration: Registration): readonly object[] => {
  const expression = podsWrittenTo(registration.pods ?? noPodRules);
  if (expression === undefined) return [];
  const matchConditions = [{ name: "is-gated-or-of-a-resource-group", expression }];
  return [webhook(registration, "/mutate", { name: "volcano-pods.rekindle.dev", rules: [pod], matchConditions })];
};

const volcanoMutating = (registration: Registration): readonly object[] => [
  webhook(registration, "/mutate", {
    name: "volcano.rekindle.dev",
    rules: [
      volcanoRule("batch", "v1alpha1", ["jobs"], created),
      volcanoRule("scheduling", "v1beta1", ["podgroups"], created),
      queueRule(created),
    ],
  }),
  ...podMutating(registration),
];

const volcanoValidating = (registration: Registration): readonly object[] => [
  webhook(registration, "/validate", {
    name: "volcano.rekindle.dev",
    rules: [
      volcanoRule("batch", "v1alpha1", ["jobs", "cronjobs"]),
      volcanoRule("flow", "v1alpha1", ["jobflows", "jobtemplates"]),
      volcanoRule("scheduling", "v1beta1", ["podgroups"], created),
      queueRule([...writes, "DELETE"]),
      { ...volcanoRule("topology", "v1alpha1", ["hypernodes"]), scope: "Cluster" },
    ],
  }),
  webhook(registration, "/validate", {
    name: "volcano-pods.rekindle.dev",
    rules: [pod],
    matchConditions: [budgeted],
  }),
];

const sparkMutating = (registration: Registration): readonly object[] => [
  webhook(registration, "/mutate", {
    name: "sparkapplications.rekindle.dev",
    rules: [sparkRule("v1beta2", "sparkapplications")],
  }),
  webhook(registration, "/mutate", {
    name: "executors.rekindle.dev",
    rules: [pod],
    objectSelector: { matchExpressions: [{ key: memoryLimitMark, operator: "Exists" }] },
  }),
];

const sparkValidating = (registration: Registration): readonly object[] => [
  webhook(registration, "/validate", {
    name: "spark.rekindle.dev",
    rules: [
      sparkRule("v1beta2", "sparkapplications", "scheduledsparkapplications"),
      sparkRule("v1alpha1", "sparkconnects"),
    ],
  }),
];

/** Both configurations. */
export const webhookConfigurations = (registration: Registration): readonly Obj[] => {
  const { families: chosen } = registration;
  const spark = chosen.includes("spark");
  const volcano = chosen.includes("volcano");
  return [
    configuration(mutatingWebhooks, [
      ...(spark ? sparkMutating(registration) : []),
      ...(volcano ? volcanoMutating(registration) : []),
    ]),
    configuration(validatingWebhooks, [
      ...(spark ? sparkValidating(registration) : []),
      ...(volcano ? volcanoValidating(registration) : []),
    ]),
  ];
};
