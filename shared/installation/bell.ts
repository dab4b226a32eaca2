/**
 * The webhook configuration of the bell: a validating webhook that the API server calls for each change of an object that a kind
 * watches. It refuses nothing: its failure is ignored, and a resync finds what it has missed.
 */
import { apiVersionOf, type Obj, type Resource } from "../core/object.ts";
import type { Watcher } from "../core/operator.ts";
import type { Places } from "../kube/admission-policy.ts";
import { type Family, nodes, pods, validatingWebhooks } from "../kube/resources.ts";
import { expressionsOf } from "../kube/selector.ts";
import { runs } from "../registry/names.ts";
import { watchers } from "../registry/watchers.ts";
import { ourLabels } from "./roles.ts";
import { namespacesIn } from "./webhooks.ts";

/** Name of the configuration. */
export const bellName = "rekindle-bell";

export type BellRegistration = Places & {
  /** An https:// URL with the secret first part of the path. */
  readonly url: string;
  readonly families: readonly Family[];
  /** True: executors leave nodes, so the deletion of a node rings. */
  readonly nodes: boolean;
};

const every = ["CREATE", "UPDATE", "DELETE"];

const ruleFor = ({ group, version }: Resource, operations: readonly string[], ...resources: readonly string[]) => ({
  operations,
  apiGroups: [group],
  apiVersions: [version],
  resources,
  scope: "*",
});

/** One entry's objects: resources, label selector and field selector. */
type Watched = { readonly selector: string; readonly field: string; readonly resources: Map<string, Resource> };

/** Returns what is watched, one for each pair of selectors, because a webhook has one of each. */
const watchedBy = (chosen: readonly Watcher[]): readonly Watched[] => {
  const found = new Map<string, Watched>();
  for (const { resource, selector = "", field = "" } of chosen.flatMap(({ watches }) => watches)) {
    const id = JSON.stringify([selector, field]);
    const one = found.get(id) ?? { selector, field, resources: new Map() };
    one.resources.set(`${resource.group}/${resource.plural}`, resource);
    found.set(id, one);
  }
  return [...found.values()];
};

const wet = { name: "is-no-dry-run", expression: "!has(request.dryRun) || !request.dryRun" } as const;

/** Returns a field selector such as `spec.schedulerName=volcano` as a condition in CEL. */
const conditionOf = (field: string) => {
  const [path = "", value = ""] = field.split("=");
  const steps = path.split(".").map((step) => `.?${step}`);
  const object = "(request.operation == 'DELETE' ? oldObject : object)";
  return { name: "has-the-field", expression: `${object}${steps.join("")}.orValue('') == '${value}'` };
};

type Entry = { readonly rules: readonly object[]; readonly selector?: string; readonly field?: string };

const entryOf = ({ selector, field, resources }: Watched): Entry => ({
  rules: [...resources.values()].map((one) => ruleFor(one, every, one.plural, `${one.plural}/status`)),
  selector,
  field,
});

const webhookOf = (registration: BellRegistration, { rules, selector = "", field = "" }: Entry, at: number) => ({
  name: `part-${at + 1}.bell.rekindle.dev`,
  clientConfig: { url: `${registration.url.replace(/\/$/, "")}/bell` },
  rules,
  ...namespacesIn(registration),
  ...(selector === "" ? {} : { objectSelector: { matchExpressions: expressionsOf(selector) } }),
  matchConditions: [wet, ...(field === "" ? [] : [conditionOf(field)])],
  admissionReviewVersions: ["v1"],
  sideEffects: "NoneOnDryRun",
  failurePolicy: "Ignore",
  timeoutSeconds: 2,
});

/** The configuration. An eviction has no labels, so each one rings; they are rare. */
export const bellConfiguration = (registration: BellRegistration): Obj => {
  const entries: readonly Entry[] = [
    ...watchedBy(watchers.filter(runs(registration.families))).map(entryOf),
    { rules: [ruleFor(pods, ["CREATE"], `${pods.plural}/eviction`)] },
    ...(registration.nodes ? [{ rules: [ruleFor(nodes, ["DELETE"], nodes.plural)] }] : []),
  ];
  return {
    apiVersion: apiVersionOf(validatingWebhooks),
    kind: validatingWebhooks.kind,
    metadata: { name: bellName, labels: ourLabels },
    webhooks: entries.map((entry, at) => webhookOf(registration, entry, at)),
  };
};
