/**
 * `rekindle manifests`: the installation as YAML, for `kubectl apply --server-side -f -`, with the rights of each
 * function that does not run within a host. Its flags are kept beside it in a ConfigMap, so that an upgrade prints the
 * same installation again.
 */

import * as z from "zod";
import { pages } from "../../adapters/kubernetes/requests.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { PodRules } from "../../kube/admission.ts";
import { resourceGroups } from "../../kube/resource-groups.ts";
import { configMaps, type Family, type Feature, families, features, features as known } from "../../kube/resources.ts";
import { selectorOf } from "../../kube/selector.ts";
import { yamlText } from "../io/documents.ts";
import { Refused, type Session } from "../io/tools.ts";
import { type Installation, namespaceOf, objectsOf } from "./objects.ts";
import type { Places } from "./policies/policy.ts";
import { policyObjects } from "./policies.ts";
import {
  featureRulesOf,
  type Grantee,
  grant,
  hostRulesOf,
  identityRules,
  leaseRules,
  lookoutRules,
  named,
  nodeRules,
  noticeRules,
  ours,
  type Rule,
  registrationRulesOf,
  rule,
  selectionRules,
} from "./roles.ts";
import { webhookConfigurations } from "./webhooks.ts";

const records = (...verbs: readonly string[]): Rule => rule("rekindle.dev", ["checkpoints"], verbs);

const whoIsWho = rule("", ["namespaces"], ["get"]);

const isOf = (group: string, resource: string, { apiGroups, resources }: Rule): boolean =>
  apiGroups.includes(group) && resources.includes(resource);

/** The host's rules without `watch`, and without `list` of checkpoints: a step reads records by their names. */
const ofSteps = (host: readonly Rule[]): readonly Rule[] =>
  host
    .map((one) => ({ ...one, verbs: one.verbs.filter((verb) => verb !== "watch") }))
    .map((one) =>
      isOf("rekindle.dev", "checkpoints", one) ? { ...one, verbs: one.verbs.filter((verb) => verb !== "list") } : one,
    );

/** The forwarder's rules: list and watch for each resource that the host watches. */
const watched = (host: readonly Rule[]): readonly Rule[] =>
  host.filter(({ verbs }) => verbs.includes("watch")).map((one) => ({ ...one, verbs: ["list", "watch"] }));

/** Controllers without a leader election are found by their Deployments; pods are listed by other rules. */
const deployments = lookoutRules.filter((one) => isOf("apps", "deployments", one));

const kinds = (...verbs: readonly string[]): Rule =>
  rule("sparkoperator.k8s.io", ["sparkapplications", "scheduledsparkapplications", "sparkconnects"], verbs);

/** Rules to read one object of each kind that people look at. */
const readOne = (chosen: readonly Family[]): readonly Rule[] => [
  ...(chosen.includes("spark") ? [kinds("get")] : []),
  ...(chosen.includes("volcano")
    ? [rule("batch.volcano.sh", ["jobs", "cronjobs"], ["get"]), rule("flow.volcano.sh", ["jobflows"], ["get"])]
    : []),
];

/** Rules of the HTTP API and the page, which show these objects as a list and by name. */
const listedAndRead = (chosen: readonly Family[]): readonly Rule[] => [
  ...(chosen.includes("spark") ? [kinds("get", "list")] : []),
  ...(chosen.includes("volcano")
    ? [
        rule("batch.volcano.sh", ["jobs", "cronjobs"], ["get", "list"]),
        rule("flow.volcano.sh", ["jobflows"], ["get", "list"]),
        // Counted at each scrape of the metrics, as records are.
        rule("scheduling.volcano.sh", ["podgroups", "queues"], ["list"]),
      ]
    : []),
  rule("", ["pods", "events"], ["list"]),
];

/** Rules by the function's name, for functions that run these families; `wake` needs none. */
export const functionRulesOf = (
  chosen: readonly Family[],
  wanted: readonly Feature[],
): Readonly<Record<string, readonly Rule[]>> => {
  // Steps and watches read no logs: the page does.
  const host = hostRulesOf(
    chosen,
    wanted.filter((feature) => feature !== "logs"),
  );
  const logs = wanted.includes("logs") ? featureRulesOf("logs", chosen) : [];
  const spark = (...rules: readonly Rule[]): readonly Rule[] => (chosen.includes("spark") ? rules : []);
  const volcano = (...rules: readonly Rule[]): readonly Rule[] => (chosen.includes("volcano") ? rules : []);
  const forward = [...watched(host), ...deployments, ...identityRules, records("get", "list", "create", "update")];
  return {
    forward,
    // It watches as the forwarder does, its resyncs list what it watches, and its page shows each object and its events.
    dispatch: [...forward, ...readOne(chosen), rule("", ["events"], ["list"]), ...logs],
    reconcile: [...ofSteps(host), ...lookoutRules, ...nodeRules],
    resync: [
      ...spark(kinds("list")),
      ...volcano(
        rule("batch.volcano.sh", ["jobs", "cronjobs"], ["list"]),
        rule("flow.volcano.sh", ["jobflows", "jobtemplates"], ["list"]),
        rule("scheduling.volcano.sh", ["podgroups", "queues"], ["list"]),
        rule("bus.volcano.sh", ["commands"], ["list"]),
      ),
      rule("", ["pods"], ["list"]),
      ...lookoutRules,
      ...identityRules,
      records("get", "list", "create", "update"),
    ],
    deliver: [
      ...spark(kinds("get")),
      ...volcano(
        rule("batch.volcano.sh", ["jobs", "cronjobs"], ["get"]),
        rule("flow.volcano.sh", ["jobflows", "jobtemplates"], ["get"]),
        rule("scheduling.volcano.sh", ["queues"], ["get"]),
      ),
      whoIsWho,
      rule("", ["events"], ["create"]),
      records("get", "create", "update", "delete"),
    ],
    api: [...listedAndRead(chosen), ...logs, records("get", "list")],
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
};

/** The step that takes a notice from the queue finds the node and cordons it. */
const needsNodes = (name: string): boolean => name === "reconcile";

const needsNamespaces = (name: string): boolean =>
  ["forward", "reconcile", "resync", "dispatch", "admission"].includes(name);

/** The lease of dispatchers, in their own namespace. */
const leaseGrants = (name: string, namespace: string): readonly Obj[] =>
  name === "dispatch"
    ? grant({ name: "rekindle-lease", within: namespace, rules: leaseRules, to: granteesOf(name, namespace) })
    : [];

/** True of a rule for objects that have no namespace, or for those of all namespaces: no Role in a namespace grants it. */
const isOfCluster = (one: Rule): boolean =>
  isOf("", "namespaces", one) || isOf("", "nodes", one) || lookoutRules.includes(one);

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
  return [
    ...(within.length === 0
      ? []
      : namespaces.flatMap((place) => grant({ name: accountOf(name), within: place, rules: within, to }))),
    ...identityGrants(name, rules, to),
    ...(nodes.length === 0 ? [] : grant({ name: `${accountOf(name)}-nodes`, within: undefined, rules: nodes, to })),
  ];
};

/** An account, a role and its binding for each function that is named. */
export const functionGrants = ({
  namespace,
  functions,
  namespaces = [],
  namespaceSelector = "",
  families: chosen = families,
  features: wanted = [],
  nodes = false,
}: Functions): readonly Obj[] => {
  const rulesByName = functionRulesOf(chosen, wanted);
  return functions.flatMap((name) => {
    const to = granteesOf(name, namespace);
    const rules = rulesByName[name] ?? [];
    const notices = nodes && needsNodes(name) ? noticeRules : [];
    const selection = namespaceSelector !== "" && needsNamespaces(name) ? selectionRules : [];
    const rights =
      namespaces.length > 0 && namespaceSelector === ""
        ? namespacedGrants(name, namespaces, { rules, notices, to })
        : grant({ name: accountOf(name), within: undefined, rules: [...rules, ...selection, ...notices], to });
    return [
      { apiVersion: "v1", kind: "ServiceAccount", metadata: named(accountOf(name), namespace) },
      ...rights,
      ...leaseGrants(name, namespace),
    ];
  });
};

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Refuses invalid names: the API server would report them only after half of the objects are created. */
const checked = (installation: Installation): Installation => {
  const { namespace, namespaces, sparkNamespaces, sparkAccounts, image } = installation;
  const wrong = [namespace, ...namespaces, ...sparkNamespaces, ...sparkAccounts].find((name) => !label.test(name));
  if (wrong !== undefined) throw new Refused(`${JSON.stringify(wrong)} is no name for Kubernetes: a-z, 0-9 and -`);
  const { namespaceSelector = "" } = installation;
  if (selectorOf(namespaceSelector) === undefined)
    throw new Refused(`${JSON.stringify(namespaceSelector)} is no label selector, such as spark=enabled`);
  if (/^$|\s/.test(image)) throw new Refused(`${JSON.stringify(image)} is no image`);
  return installation;
};

/** The features of these names. Refuses an unknown name, and a feature that only a family left out needs. */
export const featuresNamed = (names: readonly string[], chosen: readonly Family[] = families): readonly Feature[] =>
  names.map((name) => {
    const found = known.find((one) => one === name);
    if (found === undefined) throw new Refused(`--features ${JSON.stringify(name)}: write ${known.join(" or ")}`);
    if (featureRulesOf(found, chosen).length === 0)
      throw new Refused(`--features ${name}: no kind of --family ${chosen.join(",")} needs it`);
    return found;
  });

/** Resource groups as they are typed: the list of Volcano's `volcano-admission.conf`, in JSON. */
const groupsIn = (text: string): PodRules["groups"] => {
  const flag = "--admission-resource-groups";
  try {
    const read = resourceGroups.safeParse(JSON.parse(text));
    if (read.success) return read.data;
    throw new Refused(`${flag}: ${read.error.issues.map(({ message }) => message).join("; ")}`);
  } catch (cause) {
    throw cause instanceof Refused ? cause : new Refused(`${flag}: write JSON`);
  }
};

type PodRuleOptions = {
  readonly admission?: boolean | undefined;
  readonly admissionUrl?: string | undefined;
  readonly admissionQueueGate?: boolean | undefined;
  readonly admissionResourceGroups?: string | undefined;
};

/** The rules by which admission changes pods; refused without admission. */
export const podRulesIn = (options: PodRuleOptions): PodRules => {
  const { admissionQueueGate: queueGate = false, admissionResourceGroups: text } = options;
  const rules = { queueGate, groups: text === undefined ? [] : groupsIn(text) };
  const isServed = options.admission === true || options.admissionUrl !== undefined;
  if (isServed || (!queueGate && text === undefined)) return rules;
  throw new Refused(
    "--admission-queue-gate, --admission-resource-groups: admission does this: add --admission, or --admission-url",
  );
};

const stream = (texts: readonly string[]): string => texts.map((text) => `---\n${text.trimEnd()}\n`).join("");

/** All documents as one YAML stream. `crds` are texts, printed as they are. */
export const manifestsText = (installation: Installation, crds: readonly string[], kept: readonly Obj[] = []): string =>
  stream([...crds, ...[...objectsOf(checked(installation)), ...kept].map(yamlText)]);

/** Definitions alone. */
export const crdsText = (crds: readonly string[]): string => stream(crds);

/** Refuses names together with a label selector: one selector of the API server cannot express both. */
const oneWay = (places: Places): Places => {
  if (places.namespaces.length === 0 || (places.namespaceSelector ?? "") === "") return places;
  throw new Refused(
    "here namespaces are chosen by name or by label, not by both: every namespace has the label kubernetes.io/metadata.name",
  );
};

/** Absent: all families. */
type Chosen = { readonly families?: readonly Family[] | undefined };

/** Admission's rules without a webhook. */
export const policiesText = ({ families: chosen = families, ...places }: Places & Chosen): string =>
  stream(policyObjects(oneWay(places), chosen).map(yamlText));

type FunctionsRequest = {
  readonly namespace: string;
  readonly functions: true | readonly string[];
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: string | undefined;
  readonly nodes?: boolean | undefined;
  readonly features?: readonly Feature[] | undefined;
} & Chosen;

/** Accounts and roles of functions; `manifestsText` prints those of the host. */
export const functionsText = ({ functions, ...where }: FunctionsRequest, kept: readonly Obj[] = []): string => {
  const wanted = functions === true ? functionNames : functions;
  const place = (where.namespaces ?? []).find((name) => !label.test(name));
  if (place !== undefined) throw new Refused(`${JSON.stringify(place)} is no name for Kubernetes: a-z, 0-9 and -`);
  const wrong = wanted.find((name) => !functionNames.includes(name));
  if (wrong !== undefined)
    throw new Refused(`${JSON.stringify(wrong)} is no function with rights: ${functionNames.join(", ")}`);
  return stream(
    [namespaceOf(where.namespace), ...functionGrants({ ...where, functions: wanted }), ...kept].map(yamlText),
  );
};

/** Webhook configurations for admission at a URL, under a certificate that machines trust anyway. */
export const webhooksText = (
  url: string,
  { families: chosen = families, pods, ...places }: Places & Chosen & Pick<Installation, "pods">,
): string => {
  if (!url.startsWith("https://") || !URL.canParse(url)) throw new Refused(`${JSON.stringify(url)} is no https:// URL`);
  return stream(
    webhookConfigurations({ reach: { url }, ca: undefined, families: chosen, pods, ...oneWay(places) }).map(yamlText),
  );
};

const mark = "rekindle.dev/installation";

/** Part of an installation: everything for a host, or accounts and roles of functions. */
export type Part = "host" | "functions";

type Flags = { readonly part: Part; readonly namespace: string; readonly args: readonly string[] };

/** The ConfigMap that keeps the flags. */
export const keptFlags = ({ part, namespace, args }: Flags): Obj => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name: `rekindle-installation${part === "host" ? "" : `-${part}`}`,
    namespace,
    labels: { ...ours, [mark]: part },
  },
  data: {
    flags: JSON.stringify(args),
    "next-version": "rekindle manifests --upgrade | kubectl apply --server-side -f -",
  },
});

const shape = z.looseObject({ data: z.looseObject({ flags: z.string() }) });

const argsIn = (object: Stored): readonly string[] => {
  const { namespace = "", name } = object.metadata;
  try {
    return z.array(z.string()).parse(JSON.parse(shape.parse(object).data.flags));
  } catch {
    throw new Refused(
      `ConfigMap ${namespace}/${name} cannot be read: correct its flags, or delete it and say the flags`,
    );
  }
};

/** Reads the flags of all installations in this cluster. */
export const flagsKept = async ({ transport }: Session): Promise<readonly (readonly string[])[]> => {
  const found: Stored[] = [];
  for await (const page of pages(transport, { resource: configMaps, selector: mark })) found.push(...page.items);
  if (found.length > 0) return found.map(argsIn);
  throw new Refused(
    "this cluster keeps no flags of an installation (ConfigMap rekindle-installation): say those that it was installed with, without --upgrade; Helm keeps its own: helm upgrade",
  );
};
