/**
 * The faults for which the API server refuses a pod, and texts that a kubelet leaves as they are, read from the pod before it
 * is created. Only what its user writes: as validation.go of core/v1. Each fault is one sentence with its remedy.
 */
import { fieldsOf, recordsIn } from "../core/json.ts";
import { isLabelValue, type Metadata, type Obj } from "../core/object.ts";
import { counted } from "../core/text.ts";
import { labelErrors, qualifiedNameErrors, subdomainErrors } from "./names.ts";
import { quantityOf, quantityText } from "./quantity.ts";
import type { Json } from "./responses.ts";

const quoted = (value: unknown): string => JSON.stringify(value ?? "");

const nameIn = ({ name }: Json): string => (typeof name === "string" ? name : "");

/** Texts that are there more than once, each once. */
const repeatedIn = (texts: readonly string[]): readonly string[] => {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const text of texts) (seen.has(text) && text !== "" ? repeated : seen).add(text);
  return [...repeated];
};

const isLabel = (name: string): boolean => labelErrors(name).length === 0;

/** A variable's name, as Kubernetes 1.34 reads it: printable characters without `=`. */
const variable = /^[ -<>-~]+$/;

const variableFaults = ({ env }: Json): readonly string[] =>
  recordsIn(env)
    .map(nameIn)
    .filter((name) => !variable.test(name))
    .map((name) => `the variable ${quoted(name)} has a name that no process may have: rename it`);

const portName = /^[a-z0-9](?:[-a-z0-9]{0,13}[a-z0-9])?$/;

const isPortName = (name: string): boolean => portName.test(name) && /[a-z]/.test(name) && !name.includes("--");

const portFaults = ({ ports }: Json): readonly string[] => {
  const all = recordsIn(ports);
  return [
    ...repeatedIn(all.map(nameIn)).map((name) => `it has two ports named ${quoted(name)}: remove or rename one`),
    ...all
      .map(nameIn)
      .filter((name) => name !== "" && !isPortName(name))
      .map((name) => `a port is named ${quoted(name)}: use at most 15 of a-z, 0-9 and -, and at least one letter`),
  ];
};

const mountFaults = ({ volumeMounts }: Json, volumes: ReadonlySet<string>): readonly string[] => {
  const mounts = recordsIn(volumeMounts);
  const paths = mounts.map(({ mountPath }) => (typeof mountPath === "string" ? mountPath : ""));
  return [
    ...repeatedIn(paths).map((path) => `it has two mounts at ${quoted(path)}: give each a path of its own`),
    ...mounts
      .map(nameIn)
      .filter((name) => !volumes.has(name))
      .map(
        (name) => `it mounts ${quoted(name)}, and the pod has no volume of that name: declare it, or correct the name`,
      ),
  ];
};

const resourceFaults = ({ resources }: Json): readonly string[] => {
  const { requests, limits } = fieldsOf(resources);
  return Object.entries(fieldsOf(requests)).flatMap(([name, requested]) => {
    const [request, limit] = [quantityOf(requested), quantityOf(fieldsOf(limits)[name])];
    if (request === undefined || limit === undefined || request.nano <= limit.nano) return [];
    const [asked, most] = [quantityText(request), quantityText(limit)];
    return [`it requests ${asked} of ${name}, and its limit is ${most}: raise the limit, or request less`];
  });
};

const handlers = ["exec", "httpGet", "tcpSocket", "sleep"];

const lifecycleFaults = ({ lifecycle }: Json): readonly string[] =>
  ["postStart", "preStop"].flatMap((hook) => {
    const { [hook]: given } = fieldsOf(lifecycle);
    const isEmpty = given !== undefined && handlers.every((handler) => fieldsOf(given)[handler] === undefined);
    return isEmpty ? [`lifecycle.${hook} has no handler: write one of ${handlers.join(", ")}, or remove it`] : [];
  });

const containerFaults = (container: Json, volumes: ReadonlySet<string>): readonly string[] => {
  const name = nameIn(container);
  const found = [
    ...(isLabel(name) ? [] : ["its name has to be at most 63 of a-z, 0-9 and -: rename it"]),
    ...(container["image"] === undefined || container["image"] === "" ? ["it has no image: write one"] : []),
    ...variableFaults(container),
    ...portFaults(container),
    ...mountFaults(container, volumes),
    ...resourceFaults(container),
    ...lifecycleFaults(container),
    ...idFaults(container),
  ];
  return found.map((says) => `container ${quoted(name)}: ${says}`);
};

const volumeFaults = (volumes: readonly Json[]): readonly string[] => [
  ...repeatedIn(volumes.map(nameIn)).map((name) => `it has two volumes named ${quoted(name)}: remove or rename one`),
  ...volumes.flatMap((volume) => {
    const { name, ...sources } = volume;
    const count = Object.values(sources).filter((source) => source !== undefined && source !== null).length;
    return [
      ...(isLabel(nameIn(volume)) ? [] : [`volume ${quoted(name)}: its name has to be at most 63 of a-z, 0-9 and -`]),
      ...(count > 1
        ? [`volume ${quoted(name)} has ${count} sources, ${Object.keys(sources).join(" and ")}: keep one`]
        : []),
    ];
  }),
];

const operators: readonly unknown[] = [undefined, "", "Equal", "Exists", "Lt", "Gt"];
const effects: readonly unknown[] = [undefined, "", "NoSchedule", "PreferNoSchedule", "NoExecute"];

const tolerationFaults = (tolerations: readonly Json[]): readonly string[] =>
  tolerations.flatMap(({ key, operator, value, effect, tolerationSeconds }) =>
    [
      ...(operators.includes(operator) ? [] : [`the operator ${quoted(operator)}: write Equal or Exists`]),
      ...(operator === "Exists" && value !== undefined && value !== "" ? ["Exists has no value: remove it"] : []),
      ...(effects.includes(effect)
        ? []
        : [`the effect ${quoted(effect)}: write NoSchedule, PreferNoSchedule or NoExecute`]),
      ...((key === undefined || key === "") && operator !== "Exists" ? ["without a key the operator is Exists"] : []),
      ...(tolerationSeconds !== undefined && effect !== "NoExecute"
        ? ["tolerationSeconds needs the effect NoExecute"]
        : []),
    ].map((says) => `toleration of ${quoted(key)}: ${says}`),
  );

/** The least values that an operator of a node selector needs, and the most. */
const selected: Readonly<Record<string, readonly [least: number, most: number]>> = {
  ...{ In: [1, Number.POSITIVE_INFINITY], NotIn: [1, Number.POSITIVE_INFINITY] },
  ...{ Exists: [0, 0], DoesNotExist: [0, 0], Gt: [1, 1], Lt: [1, 1] },
};

const affinityFaults = (spec: Json): readonly string[] => {
  const { nodeAffinity } = fieldsOf(spec["affinity"]);
  const { requiredDuringSchedulingIgnoredDuringExecution: required } = fieldsOf(nodeAffinity);
  const terms = recordsIn(fieldsOf(required)["nodeSelectorTerms"]);
  return terms
    .flatMap(({ matchExpressions }) => recordsIn(matchExpressions))
    .flatMap(({ key, operator, values }) => {
      const [least, most] = selected[`${operator}`] ?? [1, 0];
      const count = Array.isArray(values) ? values.length : 0;
      if (count >= least && count <= most) return [];
      const known =
        least <= most
          ? `the operator ${operator} does not fit its ${count} values`
          : `there is no operator ${quoted(operator)}`;
      return [`node affinity of ${quoted(key)}: ${known}: correct it`];
    });
};

/** True for the key of a label or an annotation: a name, after a domain and `/` or without. */
const isKey = (key: string): boolean => {
  const [name = "", domain, ...more] = key.split("/").reverse();
  const isDomain = domain === undefined || subdomainErrors(domain).length === 0;
  return isDomain && more.length === 0 && qualifiedNameErrors(name).length === 0;
};

const metadataFaults = ({ name = "", labels = {}, annotations = {} }: Partial<Metadata>): readonly string[] => [
  ...(subdomainErrors(name).length === 0
    ? []
    : [`its name is ${quoted(name)}: use at most 253 of a-z, 0-9, - and ., with a letter or digit at both ends`]),
  ...[...Object.keys(labels), ...Object.keys(annotations)]
    .filter((key) => !isKey(key))
    .map(
      (key) =>
        `no label or annotation may have the key ${quoted(key)}: use letters, digits, -, _ and ., after a domain and / or without`,
    ),
  ...Object.entries(labels)
    .filter(([, value]) => !isLabelValue(value))
    .map(
      ([key, value]) => `the label ${key} has the value ${quoted(value)}: use at most 63 letters, digits, -, _ and .`,
    ),
];

/** Ids of users and groups are 0 or more, of the pod as of each container. */
const idFaults = ({ securityContext }: Json): readonly string[] =>
  Object.entries(fieldsOf(securityContext))
    .filter(([name, id]) => /^(runAsUser|runAsGroup|fsGroup)$/.test(name) && typeof id === "number" && id < 0)
    .map(([name, id]) => `securityContext.${name} is ${id}: write 0 or more`);

const accountFaults = ({ serviceAccountName: name }: Json): readonly string[] =>
  typeof name === "string" && subdomainErrors(name).length > 0
    ? [`no service account may be named ${quoted(name)}: correct the name`]
    : [];

const containersIn = (spec: Json): readonly Json[] => [
  ...recordsIn(spec["initContainers"]),
  ...recordsIn(spec["containers"]),
];

const faultsIn = ({ metadata, spec: given }: Obj): readonly string[] => {
  const spec = fieldsOf(given);
  const [volumes, containers] = [recordsIn(spec["volumes"]), containersIn(spec)];
  const names = new Set(volumes.map(nameIn));
  return [
    ...metadataFaults(metadata),
    ...repeatedIn(containers.map(nameIn)).map((name) => `it has two containers named ${quoted(name)}: rename one`),
    ...containers.flatMap((container) => containerFaults(container, names)),
    ...volumeFaults(volumes),
    ...tolerationFaults(recordsIn(spec["tolerations"])),
    ...affinityFaults(spec),
    ...accountFaults(spec),
    ...idFaults(spec),
  ];
};

/** The most faults of a pod that are named; the rest is counted. */
const mostNamed = 8;

const bounded = (found: readonly string[]): readonly string[] => {
  const more = found.length - mostNamed;
  return more <= 0 ? found : [...found.slice(0, mostNamed), `and ${counted(more, "more fault")}`];
};

/** The faults for which the API server will refuse the pod. */
export const podFaults = (pod: Obj): readonly string[] => bounded(faultsIn(pod));

/** References to variables of the same container that come later: the kubelet expands only those before. */
export const earlyReferences = ({ spec }: Obj): readonly string[] =>
  bounded(
    containersIn(fieldsOf(spec)).flatMap((container) => {
      const env = recordsIn(container["env"]);
      const places = new Map(env.map((one, at) => [nameIn(one), at] as const).reverse());
      return env.flatMap((one, at) =>
        [...`${one["value"] ?? ""}`.matchAll(/(?<!\$)\$\(([A-Za-z_][\w.-]*)\)/g)]
          .flatMap(([, other]) => other ?? [])
          .filter((other) => (places.get(other) ?? -1) > at)
          .map(
            (other) =>
              `${nameIn(one)} has $(${other}), but ${other} comes after it, so the text stays as it is; put ${other} first`,
          ),
      );
    }),
  );
