/**
 * Rights of functions: the rules of each by its name, and the account, roles and bindings that grant them. A function
 * that runs within a host needs none of these.
 */
import type { Obj } from "../core/object.ts";
import { defaultFamilies, type Family, type Feature, families, features } from "../kube/resources.ts";
import { lookoutRules } from "./feature-rules.ts";
import {
  certificateRules,
  featureRulesOf,
  type Grantee,
  grant,
  hostRulesOf,
  identityRules,
  kueueViewRule,
  leaseRules,
  named,
  nodeRules,
  nodeWatchRules,
  noticeRules,
  registrationRulesOf,
  selectionRules,
} from "./roles.ts";
import { kindRules, type Rule, rule } from "./rule.ts";

const records = (...verbs: readonly string[]): Rule => rule("rekindle.dev", ["checkpoints"], verbs);

const whoIsWho = rule("", ["namespaces"], ["get"]);

const isOf = (group: string, resource: string, { apiGroups, resources }: Rule): boolean =>
  apiGroups.includes(group) && resources.includes(resource);

/** The host's rules without `watch`, and without `list` of checkpoints, since a step reads records by their names. */
const ofSteps = (host: readonly Rule[]): readonly Rule[] =>
  host
    .map((one) => ({ ...one, verbs: one.verbs.filter((verb) => verb !== "watch") }))
    .map((one) =>
      isOf("rekindle.dev", "checkpoints", one) ? { ...one, verbs: one.verbs.filter((verb) => verb !== "list") } : one,
    );

/** The forwarder's rules: list and watch for each resource that the host watches. */
const watched = (host: readonly Rule[]): readonly Rule[] =>
  host.filter(({ verbs }) => verbs.includes("watch")).map((one) => ({ ...one, verbs: ["list", "watch"] }));

/** Rules to tell in which order groups wait. */
const order: readonly Rule[] = [rule("scheduling.k8s.io", ["priorityclasses"], ["get"])];

/** Rules to read what people look at: one object of each kind, or lists besides. */
const read = (chosen: readonly Family[], verbs: readonly string[]): readonly Rule[] => [
  ...kindRules(chosen, (kind) => kind.read?.filter((verb) => verbs.includes(verb))),
  ...(chosen.includes("volcano") ? order : []),
  kueueViewRule,
];

/** Rules of the HTTP API and the page, which show these objects as a list and by name. */
const listedAndRead = (chosen: readonly Family[]): readonly Rule[] => [
  ...read(chosen, ["get", "list"]),
  // Counted at each scrape of the metrics, as records and queues are.
  ...(chosen.includes("volcano") ? [rule("scheduling.volcano.sh", ["podgroups"], ["list"])] : []),
  rule("", ["pods", "events"], ["list"]),
];

const ofPage: readonly Feature[] = ["logs", "actions", "kube-sign-in"];

/** Rules by the function's name, for functions that run these families; `wake` needs none. */
export const functionRulesOf = (
  chosen: readonly Family[],
  wanted: readonly Feature[],
): Readonly<Record<string, readonly Rule[]>> => {
  // Steps and watches need no feature of the page.
  const isOfPage = (feature: Feature): boolean => ofPage.includes(feature);
  const host = hostRulesOf(
    chosen,
    wanted.filter((feature) => !isOfPage(feature)),
  );
  const page = wanted.filter(isOfPage).flatMap((feature) => featureRulesOf(feature, chosen));
  const forward = [...watched(host), ...lookoutRules, ...identityRules, records("get", "list", "create", "update")];
  return {
    forward,
    // It watches as the forwarder does, its resyncs list what it watches, and its page shows each object and its events.
    dispatch: [...forward, ...read(chosen, ["get"]), rule("", ["events"], ["list"]), ...page],
    reconcile: [...ofSteps(host), ...lookoutRules, ...nodeRules],
    resync: [
      ...kindRules(chosen, () => ["list"]),
      ...(chosen.includes("volcano")
        ? [rule("scheduling.volcano.sh", ["podgroups"], ["list"]), rule("bus.volcano.sh", ["commands"], ["list"])]
        : []),
      ...(chosen.includes("spark") ? [kueueViewRule] : []),
      rule("", ["pods"], ["list"]),
      ...lookoutRules,
      ...identityRules,
      records("get", "list", "create", "update"),
    ],
    deliver: [
      ...kindRules(chosen, () => ["get"]),
      whoIsWho,
      rule("", ["events"], ["create"]),
      records("get", "create", "update", "delete"),
    ],
    api: [...listedAndRead(chosen), ...page, records("get", "list")],
    admission: registrationRulesOf(chosen).filter(
      ({ apiGroups }) => !apiGroups.includes("admissionregistration.k8s.io"),
    ),
    submitter: [
      rule("", ["pods", "services", "configmaps", "persistentvolumeclaims"], ["get", "create"]),
      rule("networking.k8s.io", ["networkpolicies"], ["get", "create"]),
    ],
  };
};

/** Rights of functions that run all families with all features. */
export const functionRules = functionRulesOf(families, features);

export const functionNames: readonly string[] = Object.keys(functionRules);

/** Name of a function's service account, and of all objects that are created for the function. */
export const accountOf = (name: string): string => `rekindle-${name}`;

/** The subjects of a function: the account of its pods, and the group of EKS' access entries. */
const granteesOf = (name: string, namespace: string): readonly Grantee[] => [
  { name: accountOf(name), namespace },
  { group: `rekindle:${name}` },
];

type Functions = {
  readonly namespace: string;
  readonly functions: readonly string[];
  /** Namespaces in scope, by Roles in each; absent or empty: all, by ClusterRoles. */
  readonly namespaces?: readonly string[] | undefined;
  /** Label selector of further namespaces. */
  readonly namespaceSelector?: string | undefined;
  /** Absent: all. */
  readonly families?: readonly Family[] | undefined;
  /** Absent: none. */
  readonly features?: readonly Feature[] | undefined;
  /** True: nodes that are about to go are looked up and cordoned. */
  readonly nodes?: boolean | undefined;
  /** True: the dispatcher and the admission function may register the webhooks that they serve. */
  readonly admission?: boolean | undefined;
};

/** The functions that can serve admission and register it. */
export const admittingFunctions: readonly string[] = ["dispatch", "admission"];

/** The step that takes a notice from the queue finds the node and cordons it; forward and a dispatcher watch nodes. */
const rulesOfNodes: Readonly<Record<string, readonly Rule[]>> = {
  reconcile: noticeRules,
  forward: nodeWatchRules,
  dispatch: nodeWatchRules,
};

const needsNamespaces = (name: string): boolean =>
  ["forward", "reconcile", "resync", "dispatch", "admission"].includes(name);

/** The lease of dispatchers, in their own namespace. */
const leaseGrants = (name: string, namespace: string): readonly Obj[] =>
  name === "dispatch"
    ? grant({ name: "rekindle-lease", within: namespace, rules: leaseRules, to: granteesOf(name, namespace) })
    : [];

/** The rights that admission needs beside those of its function: webhook configurations, its certificate, quotas, queues. */
const admissionGrants = (name: string, namespace: string, chosen: readonly Family[]): readonly Obj[] => {
  if (!admittingFunctions.includes(name)) return [];
  const to = granteesOf(name, namespace);
  return [
    ...grant({ name: `${accountOf(name)}-registration`, within: undefined, rules: registrationRulesOf(chosen), to }),
    ...grant({ name: `${accountOf(name)}-certificate`, within: namespace, rules: certificateRules, to }),
  ];
};

/** True of a rule for reviews of tokens and of rights. */
const isReview = ({ apiGroups: [group = ""] }: Rule): boolean => /^auth(entication|orization)\.k8s\.io$/.test(group);

/** True of a rule for objects that have no namespace, or for those of all namespaces: no Role in a namespace grants it. */
const isOfCluster = (one: Rule): boolean =>
  isReview(one) || isOf("", "namespaces", one) || isOf("", "nodes", one) || lookoutRules.includes(one);

/** Which cluster this is, for functions whose rules are in Roles. */
const identityGrants = (name: string, rules: readonly Rule[], to: readonly Grantee[]): readonly Obj[] =>
  rules.some((one) => isOf("", "namespaces", one))
    ? grant({ name: `${accountOf(name)}-identity`, within: "kube-system", rules: identityRules, to })
    : [];

type Rights = {
  readonly rules: readonly Rule[];
  /** Rules that hold in the whole cluster in any case. */
  readonly notices: readonly Rule[];
  readonly to: readonly Grantee[];
};

/** The grants of a function that looks after these namespaces alone. */
const namespacedGrants = (
  name: string,
  namespaces: readonly string[],
  { rules, notices, to }: Rights,
): readonly Obj[] => {
  const within = rules.filter((one) => !isOfCluster(one));
  const nodes = notices.length === 0 ? [] : [...nodeRules, ...notices];
  const reviews = rules.filter(isReview);
  return [
    ...(within.length === 0
      ? []
      : namespaces.flatMap((place) => grant({ name: accountOf(name), within: place, rules: within, to }))),
    ...identityGrants(name, rules, to),
    ...(reviews.length === 0
      ? []
      : grant({ name: `${accountOf(name)}-kube-sign-in`, within: undefined, rules: reviews, to })),
    ...(nodes.length === 0 ? [] : grant({ name: `${accountOf(name)}-nodes`, within: undefined, rules: nodes, to })),
  ];
};

/** An account, a role and its binding for each function that is named. */
export const functionGrants = ({
  namespace,
  functions,
  namespaces = [],
  namespaceSelector = "",
  families: chosen = defaultFamilies,
  features: wanted = [],
  nodes = false,
  admission = false,
}: Functions): readonly Obj[] => {
  const rulesByName = functionRulesOf(chosen, wanted);
  return functions.flatMap((name) => {
    const to = granteesOf(name, namespace);
    const rules = rulesByName[name] ?? [];
    const notices = nodes ? (rulesOfNodes[name] ?? []) : [];
    const selection = namespaceSelector !== "" && needsNamespaces(name) ? selectionRules : [];
    const rights =
      namespaces.length > 0 && namespaceSelector === ""
        ? namespacedGrants(name, namespaces, { rules, notices, to })
        : grant({ name: accountOf(name), within: undefined, rules: [...rules, ...selection, ...notices], to });
    return [
      { apiVersion: "v1", kind: "ServiceAccount", metadata: named(accountOf(name), namespace) },
      ...rights,
      ...leaseGrants(name, namespace),
      ...(admission ? admissionGrants(name, namespace, chosen) : []),
    ];
  });
};
