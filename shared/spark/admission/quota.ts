/** The ResourceQuotas of a namespace, against the usage of pods that do not exist yet. */
import * as z from "zod";
import { fieldsOf, recordsIn } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { type PodDefaults, withRequests } from "../../kube/pod-defaults.ts";
import { amountOf } from "../../kube/quantity.ts";
import type { Json } from "../../kube/responses.ts";

/** Amounts by the resource names of quotas: cores, bytes. */
export type Requests = Readonly<Record<string, number>>;

/** The ResourceQuotas of a namespace, and what the API server adds to pods there. */
export type NamespaceRoom = {
  readonly quotas: readonly unknown[];
  readonly defaults: PodDefaults;
  /** Warnings about defaults that could not be read, so that pods are counted without them. Absent: all were read. */
  readonly unread?: readonly string[];
};

const amounts = z.record(z.string(), z.union([z.string(), z.number().transform(String)])).optional();

const quota = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  spec: z.looseObject({
    hard: amounts,
    scopes: z.array(z.string()).optional(),
    scopeSelector: z.looseObject({}).optional(),
  }),
  status: z.looseObject({ hard: amounts, used: amounts }).optional(),
});

type Quota = z.infer<typeof quota>;

/** The tolerance for rounding errors. */
const rounding = 1e-6;

const excessOf = (requests: Requests, { spec, status }: Quota): readonly string[] =>
  Object.entries(requests).flatMap(([name, requested]) => {
    if (status?.hard?.[name] === undefined) return [];
    const used = amountOf(status.used?.[name] ?? "0") ?? 0;
    const hard = amountOf(spec.hard?.[name] ?? "0") ?? 0;
    return used + requested > hard + rounding
      ? [`${name}: ${requested} more than the ${used} in use exceed ${hard}`]
      : [];
  });

/** The quotas that count every pod: those with scopes are ignored. */
const unscoped = (quotas: readonly unknown[]): readonly Quota[] =>
  quotas.flatMap((given) => {
    const { data } = quota.safeParse(given);
    if (data === undefined || data.spec.scopeSelector !== undefined || (data.spec.scopes ?? []).length > 0) return [];
    return [data];
  });

const nameOf = ({ metadata }: Quota): string => `"${metadata.namespace ?? "default"}/${metadata.name}"`;

/** One message for each exceeded quota, in upstream's words first. */
export const exceeded = (requests: Requests, quotas: readonly unknown[]): readonly string[] =>
  unscoped(quotas).flatMap((one) => {
    const excess = excessOf(requests, one);
    return excess.length === 0 ? [] : [`failed to validate resource quota ${nameOf(one)}: ${excess.join("; ")}`];
  });

/** The resources of a quota that every container must state: its field, and the resource there. As Kubernetes' evaluator of pods. */
const mandatory: Readonly<Record<string, readonly [kind: "requests" | "limits", resource: string]>> = {
  ...{ cpu: ["requests", "cpu"], "requests.cpu": ["requests", "cpu"], "limits.cpu": ["limits", "cpu"] },
  ...{
    memory: ["requests", "memory"],
    "requests.memory": ["requests", "memory"],
    "limits.memory": ["limits", "memory"],
  },
};

const states = (container: Json, name: string): boolean => {
  const [kind, resource] = mandatory[name] ?? ["requests", name];
  return fieldsOf(withRequests(fieldsOf(container["resources"]))[kind])[resource] !== undefined;
};

/** Pods, with the defaults of their namespace, that a quota keeps from being created: one sentence for each quota. */
export const unstated = (pods: readonly Obj[], quotas: readonly unknown[]): readonly string[] => {
  const containers = pods.flatMap(({ spec }) =>
    ["initContainers", "containers"].flatMap((list) => recordsIn(fieldsOf(spec)[list])),
  );
  return unscoped(quotas).flatMap((one) => {
    const lacks = Object.keys(one.spec.hard ?? {})
      .filter((name) => Object.hasOwn(mandatory, name))
      .flatMap((name) => {
        const silent = new Set(containers.filter((each) => !states(each, name)).map((each) => `${each["name"]}`));
        return silent.size === 0 ? [] : [`${name} of ${[...silent].join(", ")}`];
      });
    return lacks.length === 0
      ? []
      : [
          `quota ${nameOf(one)} wants every container to state its amounts, and the spec states none for ${lacks.join("; ")}: state them, or let a LimitRange of the namespace do it; otherwise the API server refuses the pods`,
        ];
  });
};
