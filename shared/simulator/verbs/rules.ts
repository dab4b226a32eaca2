/** Special rules of built-in kinds for creation and update, one row per kind. */

import { createHash } from "node:crypto";
import { established, type Kind } from "../schema/kinds.ts";
import { at, type Fields, fieldsAt, isFields, itemsAt, numberAt, same, textAt } from "../storage/json.ts";
import type { Draft, Item } from "../storage/metadata.ts";
import { type Cause, cause, forbidden, type Refusal } from "../storage/refusal.ts";
import { keyOf, type Store } from "../storage/store.ts";
import { missingClass, newLimitRange, withSizes } from "./pod-sizes.ts";
import { accountOf, newPod, podFaults, podUpdateFaults, withQos } from "./pods.ts";

/** The context of a rule beside the object. */
export type RuleContext = {
  readonly store: Store;
  readonly time: string;
  readonly suffix: string;
  readonly kind: Kind;
};

export type Rule = {
  /** The object as first stored. */
  readonly create?: (draft: Draft, context: RuleContext) => Draft;
  /** Refuses an object because of other objects. */
  readonly admit?: (draft: Draft, context: RuleContext) => Refusal | undefined;
  /** Refuses an object because of its own fields. */
  readonly faults?: (draft: Draft) => readonly Cause[];
  /** A status as it is stored. */
  readonly status?: (status: unknown) => unknown;
  readonly updateFaults?: (before: Item, after: Draft) => readonly Cause[];
  /** The object as an update stores it. */
  readonly update?: (before: Item, after: Draft) => Draft;
};

const accountMissing = (draft: Draft, { store, kind }: RuleContext): Refusal | undefined => {
  const account = accountOf(fieldsAt(draft, "spec"));
  const namespace = draft.metadata.namespace;
  return store.get("serviceaccounts", keyOf(namespace, account)) !== undefined
    ? undefined
    : forbidden(
        kind,
        draft.metadata.name,
        `error looking up service account ${namespace}/${account}: serviceaccount "${account}" not found`,
      );
};

const classMissing = (draft: Draft, { store, kind }: RuleContext): Refusal | undefined => {
  const missing = missingClass(draft, store);
  return missing === undefined
    ? undefined
    : forbidden(kind, draft.metadata.name, `pod rejected: RuntimeClass "${missing}" not found`);
};

/** Adds podIPs, a list of the one podIP. */
const withAddresses = (status: unknown): unknown => {
  const ip = textAt(status, "podIP");
  return ip === undefined || !isFields(status) || status["podIPs"] !== undefined
    ? status
    : { ...status, podIPs: [{ ip }] };
};

const frozenFields = ["data", "binaryData"] as const;

const immutableFaults = (before: Item, after: Draft): readonly Cause[] => {
  if (before["immutable"] !== true) return [];
  const words = "field is immutable when `immutable` is set";
  return [
    ...(after["immutable"] === true ? [] : [cause.forbidden("immutable", words)]),
    ...frozenFields.filter((field) => !same(before[field], after[field])).map((field) => cause.forbidden(field, words)),
  ];
};

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

const withSecretData = (draft: Draft): Draft => {
  const { stringData, ...rest } = draft;
  const written = Object.entries(isFields(stringData) ? stringData : {}).map(([key, value]): [string, string] => [
    key,
    base64(String(value)),
  ]);
  const data = { ...fieldsAt(rest, "data"), ...Object.fromEntries(written) };
  return { ...rest, ...(Object.keys(data).length > 0 && { data }), type: textAt(rest, "type") ?? "Opaque" };
};

const addressOf = (text: string): string => {
  const digest = createHash("sha1").update(text).digest();
  return `10.96.${digest[0] ?? 0}.${Math.max(1, digest[1] ?? 1)}`;
};

const portOf = (port: unknown): unknown =>
  isFields(port)
    ? { ...port, protocol: port["protocol"] ?? "TCP", targetPort: port["targetPort"] ?? port["port"] }
    : port;

const newService = (draft: Draft): Draft => {
  const spec = fieldsAt(draft, "spec");
  const clusterIP = textAt(spec, "clusterIP") || addressOf(keyOf(draft.metadata.namespace, draft.metadata.name));
  const ports = itemsAt(spec, "ports");
  const free = clusterIP === "None" && Object.keys(fieldsAt(spec, "selector")).length === 0;
  const defaults: Fields = {
    ...(ports.length > 0 && { ports: ports.map(portOf) }),
    clusterIP,
    clusterIPs: [clusterIP],
    type: textAt(spec, "type") ?? "ClusterIP",
    sessionAffinity: textAt(spec, "sessionAffinity") ?? "None",
    ipFamilies: at(spec, "ipFamilies") ?? (free ? ["IPv4", "IPv6"] : ["IPv4"]),
    ipFamilyPolicy: textAt(spec, "ipFamilyPolicy") ?? (free ? "RequireDualStack" : "SingleStack"),
    internalTrafficPolicy: textAt(spec, "internalTrafficPolicy") ?? "Cluster",
  };
  return { ...draft, spec: { ...spec, ...defaults }, status: { loadBalancer: {} } };
};

/** An update without the assigned address keeps it. */
const updatedService = (before: Item, after: Draft): Draft => {
  const kept = fieldsAt(before, "spec");
  const spec = fieldsAt(after, "spec");
  const clusterIP = textAt(spec, "clusterIP") || textAt(kept, "clusterIP");
  return { ...newService({ ...after, spec: { ...spec, clusterIP } }), status: before.status };
};

const serviceFaults = (draft: Draft): readonly Cause[] => {
  const ports = itemsAt(draft, "spec", "ports");
  const headless = textAt(draft, "spec", "clusterIP") === "None";
  return [
    ...(ports.length === 0 && !headless ? [cause.required("spec.ports")] : []),
    ...ports.flatMap((port, i) => {
      const number = at(port, "port");
      const fits = typeof number === "number" && number >= 1 && number <= 65535;
      return fits
        ? []
        : [cause.invalid(`spec.ports[${i}].port`, number ?? 0, "must be between 1 and 65535, inclusive")];
    }),
  ];
};

const newNamespace = (draft: Draft): Draft => ({
  ...draft,
  metadata: {
    ...draft.metadata,
    labels: { ...draft.metadata.labels, "kubernetes.io/metadata.name": draft.metadata.name },
  },
  spec: { finalizers: ["kubernetes"] },
  status: { phase: "Active" },
});

const newCrd = (draft: Draft, { time }: RuleContext): Draft => established(draft, time);

const crdFaults = (draft: Draft): readonly Cause[] => {
  const wanted = `${textAt(draft, "spec", "names", "plural")}.${textAt(draft, "spec", "group")}`;
  const { name } = draft.metadata;
  return name === wanted ? [] : [cause.invalid("metadata.name", name, `must be spec.names.plural+"."+spec.group`)];
};

const newDeployment = (draft: Draft): Draft => ({
  ...draft,
  spec: { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600, ...fieldsAt(draft, "spec") },
  status: {},
});

const newQuota = (draft: Draft): Draft => {
  const hard = Object.entries(fieldsAt(draft, "spec", "hard")).map(([name, value]) => [name, String(value)]);
  return { ...draft, spec: { ...fieldsAt(draft, "spec"), hard: Object.fromEntries(hard) }, status: {} };
};

const newClaim = (draft: Draft): Draft => ({
  ...draft,
  metadata: { ...draft.metadata, finalizers: [...(draft.metadata.finalizers ?? []), "kubernetes.io/pvc-protection"] },
  spec: { volumeMode: "Filesystem", ...fieldsAt(draft, "spec") },
  status: { phase: "Pending" },
});

const eventDefaults: Fields = {
  reportingComponent: "",
  reportingInstance: "",
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
};

const newEvent = (draft: Draft): Draft => ({
  ...draft,
  ...Object.fromEntries(Object.entries(eventDefaults).filter(([key]) => draft[key] === undefined)),
});

const eventFaults = (draft: Draft): readonly Cause[] => {
  const about = textAt(draft, "involvedObject", "namespace") ?? "";
  const where = draft.metadata.namespace ?? "";
  const fits = about === where || (about === "" && where === "default");
  return fits ? [] : [cause.invalid("involvedObject.namespace", about, "does not match event.namespace")];
};

const withRules = (draft: Draft): Draft => (draft["rules"] === undefined ? { ...draft, rules: null } : draft);

const leaseFaults = (draft: Draft): readonly Cause[] => {
  const field = "spec.leaseDurationSeconds";
  const seconds = numberAt(draft, "spec", "leaseDurationSeconds");
  return seconds !== undefined && seconds <= 0 ? [cause.invalid(field, seconds, "must be greater than 0")] : [];
};

/** Empty maps are not stored. */
const withoutEmptyData = (draft: Draft): Draft => {
  const empty = frozenFields.filter((field) => Object.keys(fieldsAt(draft, field)).length === 0);
  if (empty.length === 0) return draft;
  const { apiVersion, kind, metadata } = draft;
  return {
    ...Object.fromEntries(Object.entries(draft).filter(([key]) => !empty.some((each) => each === key))),
    apiVersion,
    kind,
    metadata,
  };
};

const rows: Readonly<Record<string, Rule>> = {
  pods: {
    create: (draft, { suffix, time, store }) => withQos(withSizes(newPod(draft, suffix, time), store)),
    admit: (draft, context) => classMissing(draft, context) ?? accountMissing(draft, context),
    status: withAddresses,
    faults: podFaults,
    updateFaults: podUpdateFaults,
  },
  configmaps: {
    create: withoutEmptyData,
    update: (_before, after) => withoutEmptyData(after),
    updateFaults: immutableFaults,
  },
  events: { create: newEvent, faults: eventFaults },
  secrets: {
    create: withSecretData,
    update: (_before, after) => withSecretData(after),
    updateFaults: immutableFaults,
  },
  services: { create: newService, update: updatedService, faults: serviceFaults },
  namespaces: { create: newNamespace },
  "roles.rbac.authorization.k8s.io": { create: withRules, update: (_before, after) => withRules(after) },
  "clusterroles.rbac.authorization.k8s.io": { create: withRules, update: (_before, after) => withRules(after) },
  "leases.coordination.k8s.io": { faults: leaseFaults },
  persistentvolumeclaims: { create: newClaim },
  limitranges: { create: newLimitRange },
  resourcequotas: { create: newQuota },
  "deployments.apps": { create: newDeployment },
  "customresourcedefinitions.apiextensions.k8s.io": {
    create: newCrd,
    faults: crdFaults,
    update: (before, after) => ({ ...established(after, before.metadata.creationTimestamp ?? "") }),
  },
};

const none: Rule = {};

/** The rule of a kind; most have none. */
export const ruleOf = (kind: Kind): Rule => rows[kind.table] ?? none;
