/** The webhook configurations of admission: own names, only Rekindle's kinds, a short timeout, failurePolicy Ignore. */
import { apiVersionOf, type Obj, type Resource } from "../core/object.ts";
import { memoryLimitMark, noPodRules, type PodRules, podsWrittenTo } from "../kube/admission.ts";
import { expressionsFor, type Places } from "../kube/admission-policy.ts";
import { writes } from "../kube/kind-installation.ts";
import { type Family, mutatingWebhooks, validatingWebhooks } from "../kube/resources.ts";
import { installations } from "../registry/installations.ts";
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

type Place = Pick<Resource, "group" | "version"> & { readonly scope?: "Cluster" };

const ruleOf = ({ group, version, scope }: Place, resources: readonly string[], operations: readonly string[]) => ({
  operations,
  apiGroups: [group],
  apiVersions: [version],
  resources,
  scope: scope ?? "Namespaced",
});

type Installed = (typeof installations)[number];

/** Returns the rules for the kinds of a family: those of one group and version with the same operations share one. */
const rulesOf = (family: Family, operationsOf: (kind: Installed) => readonly string[] | undefined) => {
  const all = installations
    .filter(({ kind }) => kind.family === family)
    .flatMap((one) => {
      const operations = operationsOf(one) ?? [];
      const { resource, scope } = one.kind;
      const place: Place = { ...resource, ...(scope === undefined ? {} : { scope }) };
      return operations.length === 0 ? [] : [{ place, plural: resource.plural, operations }];
    });
  const alike = ({ place: { group, version, scope }, operations }: (typeof all)[number]): string =>
    JSON.stringify([group, version, scope, operations]);
  return [...Map.groupBy(all, alike).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    return [
      ruleOf(
        first.place,
        same.map(({ plural }) => plural),
        first.operations,
      ),
    ];
  });
};

const validated = ({ validated: operations }: Installed): readonly string[] => operations;
const mutated = ({ mutated: operations }: Installed): readonly string[] | undefined => operations;

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

/** Groups are no kind of their own, but have defaults and rules at their creation. */
const groupRule = ruleOf({ group: "scheduling.volcano.sh", version: "v1beta1" }, ["podgroups"], ["CREATE"]);
const hyperNodeRule = ruleOf(
  { group: "topology.volcano.sh", version: "v1alpha1", scope: "Cluster" },
  ["hypernodes"],
  writes,
);

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

const podMutating = (registration: Registration): readonly object[] => {
  const expression = podsWrittenTo(registration.pods ?? noPodRules);
  if (expression === undefined) return [];
  const matchConditions = [{ name: "is-gated-or-of-a-resource-group", expression }];
  return [webhook(registration, "/mutate", { name: "volcano-pods.rekindle.dev", rules: [pod], matchConditions })];
};

const volcanoMutating = (registration: Registration): readonly object[] => [
  webhook(registration, "/mutate", {
    name: "volcano.rekindle.dev",
    rules: [...rulesOf("volcano", mutated), groupRule],
  }),
  ...podMutating(registration),
];

const volcanoValidating = (registration: Registration): readonly object[] => [
  webhook(registration, "/validate", {
    name: "volcano.rekindle.dev",
    rules: [...rulesOf("volcano", validated), groupRule, hyperNodeRule],
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
    rules: rulesOf("spark", mutated),
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
    rules: rulesOf("spark", validated),
  }),
];

const apacheValidating = (registration: Registration): readonly object[] => [
  webhook(registration, "/validate", { name: "apache.rekindle.dev", rules: rulesOf("apache", validated) }),
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
      ...(chosen.includes("apache") ? apacheValidating(registration) : []),
    ]),
  ];
};
