/** `svc`: a name for every pod, the hosts of all tasks as files and variables, and a NetworkPolicy around the job. */

import { oncePer } from "../../core/cache.ts";
import type { Obj } from "../../core/object.ts";
import { configMaps, networkPolicies, services } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { type Draft, everywhere, withEnv, withVolume } from "../pods/draft.ts";
import { hostsOf, type Owner, ownerReference } from "../pods/names.ts";
import { keys } from "../schema/resource.ts";
import { nameOf, type Task } from "../schema/spec.ts";
import { flagsOf, type Kept, type Plugin, type Scope } from "./plugin.ts";

const flags = {
  "publish-not-ready-addresses": false,
  "disable-network-policy": false,
  "inject-hosts-env": true,
} as const;

const mapName = ({ name }: Owner): string => `${name}-svc`;

const variable = (task: Task, what: "HOSTS" | "NUM"): string =>
  `VC_${nameOf(task).replaceAll("-", "_").toUpperCase()}_${what}`;

const hosted = ({ owner, tasks }: Scope): Readonly<Record<string, string>> =>
  Object.fromEntries(
    tasks.flatMap((task): readonly (readonly [string, string])[] => {
      const domains = hostsOf(owner.name, task).map(({ domain }) => domain);
      return [
        [`${nameOf(task).replaceAll("-", "_")}.host`, domains.join("\n")],
        [variable(task, "HOSTS"), domains.join(",")],
        [variable(task, "NUM"), `${domains.length}`],
      ];
    }),
  );

const metadataOf = (owner: Owner, name: string): Obj["metadata"] => ({
  name,
  namespace: owner.namespace,
  ownerReferences: [ownerReference(owner)],
});

const podsOf = ({ name, namespace }: Owner): Json => ({ [keys.jobName]: name, [keys.jobNamespace]: namespace });

const configMap = (scope: Scope): Kept => ({
  resource: configMaps,
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(scope.owner, mapName(scope.owner)),
    data: hosted(scope),
  },
});

const service = ({ owner }: Scope, notReady: boolean): Kept => ({
  resource: services,
  object: {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(owner, owner.name),
    spec: {
      clusterIP: "None",
      selector: podsOf(owner),
      ...(notReady ? { publishNotReadyAddresses: true } : {}),
    },
  },
});

const networkPolicy = ({ owner }: Scope): Kept => ({
  resource: networkPolicies,
  object: {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataOf(owner, owner.name),
    spec: {
      podSelector: { matchLabels: podsOf(owner) },
      ingress: [{ from: [{ podSelector: { matchLabels: podsOf(owner) } }] }],
      policyTypes: ["Ingress"],
    },
  },
});

const unset = (value: unknown): boolean => value === undefined || value === "";

const named = (draft: Draft, { owner }: Scope): Draft => {
  const { hostname, subdomain } = draft.spec;
  const missing = {
    ...(unset(hostname) ? { hostname: draft.metadata.name } : {}),
    ...(unset(subdomain) ? { subdomain: owner.name } : {}),
  };
  return { ...draft, spec: { ...draft.spec, ...missing } };
};

/** Returns two variables per task, built once for all pods of a job: it may have thousands of tasks and pods. */
const hostVariables = oncePer(({ owner, tasks }: Scope): readonly Json[] =>
  tasks
    .flatMap((task) => [variable(task, "HOSTS"), variable(task, "NUM")])
    .map((name) => ({ name, valueFrom: { configMapKeyRef: { name: mapName(owner), key: name } } })),
);

export const svc: Plugin = {
  flags,
  noted: true,
  onPod: (draft, scope, args) => {
    const name = mapName(scope.owner);
    const inEnvironment = flagsOf(args, flags)["inject-hosts-env"];
    const spoken = inEnvironment ? withEnv(named(draft, scope), hostVariables(scope), everywhere) : named(draft, scope);
    return withVolume(spoken, { name, configMap: { name } }, { name, mountPath: "/etc/volcano" });
  },
  objects: (scope, args) => {
    const read = flagsOf(args, flags);
    return [
      configMap(scope),
      service(scope, read["publish-not-ready-addresses"]),
      ...(read["disable-network-policy"] ? [] : [networkPolicy(scope)]),
    ];
  },
};
