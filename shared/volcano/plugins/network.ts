/**
 * `svc`: a name for every pod, the hosts of all tasks as files and variables, and a NetworkPolicy around the job.
 * `ssh`: one key pair for all pods of the job, generated once and kept as long as the job exists.
 */

import { oncePer } from "../../core/cache.ts";
import type { Metadata } from "../../core/object.ts";
import { derivedLabel } from "../../kube/names.ts";
import { configMaps, networkPolicies, secrets, services } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { hostsOf, type Owner, ownerReference } from "../pods/names.ts";
import { type Draft, everywhere, withEnv, withVolume } from "../pods/pod.ts";
import { keys } from "../schema/resource.ts";
import { nameOf, type Task } from "../schema/spec.ts";
import { flagsOf, type Plugin, type PluginObject, type Scope } from "./plugin.ts";

const svcFlags = {
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

const metadataOf = (owner: Owner, name: string): Metadata => ({
  name,
  namespace: owner.namespace,
  ownerReferences: [ownerReference(owner)],
});

const podsOf = ({ name, namespace }: Owner): Json => ({ [keys.jobName]: name, [keys.jobNamespace]: namespace });

const configMap = (scope: Scope): PluginObject => ({
  resource: configMaps,
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadataOf(scope.owner, mapName(scope.owner)),
    data: hosted(scope),
  },
});

const service = ({ owner }: Scope, notReady: boolean): PluginObject => ({
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

const networkPolicy = ({ owner }: Scope): PluginObject => ({
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
  flags: svcFlags,
  noted: true,
  onPod: (draft, scope, args) => {
    const name = derivedLabel(scope.owner.name, "svc");
    const inEnvironment = flagsOf(args, svcFlags)["inject-hosts-env"];
    const spoken = inEnvironment ? withEnv(named(draft, scope), hostVariables(scope), everywhere) : named(draft, scope);
    return withVolume(spoken, { name, configMap: { name: mapName(scope.owner) } }, { name, mountPath: "/etc/volcano" });
  },
  objects: (scope, args) => {
    const read = flagsOf(args, svcFlags);
    return [
      configMap(scope),
      service(scope, read["publish-not-ready-addresses"]),
      ...(read["disable-network-policy"] ? [] : [networkPolicy(scope)]),
    ];
  },
};

const home = "/root/.ssh";

const sshFlags = {
  "ssh-key-file-path": home,
  "ssh-private-key": "",
  "ssh-public-key": "",
  "ssh-port": 22,
} as const;

const secretName = ({ name }: Owner): string => `${name}-ssh`;

/** In root's home only root may read the files; elsewhere another user must. */
const modes = { owner: 0o600, everybody: 0o644 } as const;

const files = ["id_rsa", "id_rsa.pub", "authorized_keys", "config"] as const;

const base64 = (text: string): string => {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(""));
};

/** Returns an ssh configuration with every pod of the job by its short name. */
export const sshConfig = ({ owner, tasks }: Scope, port: number): string => {
  const hosts = tasks.flatMap((task) => hostsOf(owner.name, task));
  const blocks = hosts.map(({ host, domain }) => `Host ${host}\n  HostName ${domain}\n  Port ${port}\n`);
  return `StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n${blocks.join("")}`;
};

/** Returns the keys that the job brings along; undefined if they are to be generated. */
const given = (privateKey: string, publicKey: string): Readonly<Record<string, string>> | undefined =>
  privateKey === "" || publicKey === ""
    ? undefined
    : { id_rsa: privateKey, "id_rsa.pub": publicKey, authorized_keys: publicKey };

const encoded = (data: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([name, text]) => [name, base64(text)]));

export const ssh: Plugin = {
  flags: sshFlags,
  noted: true,
  onPod: (draft, { owner }, args) => {
    const path = flagsOf(args, sshFlags)["ssh-key-file-path"];
    const name = derivedLabel(owner.name, "ssh");
    const secret = {
      secretName: secretName(owner),
      items: files.map((key) => ({ key, path: `.ssh/${key}` })),
      defaultMode: path === home ? modes.owner : modes.everybody,
    };
    return withVolume(draft, { name, secret }, { name, mountPath: path, subPath: ".ssh" });
  },
  objects: (scope, args) => {
    const read = flagsOf(args, sshFlags);
    const keys = given(read["ssh-private-key"], read["ssh-public-key"]);
    const { owner } = scope;
    const object = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: secretName(owner), namespace: owner.namespace, ownerReferences: [ownerReference(owner)] },
      data: encoded({ config: sshConfig(scope, read["ssh-port"]), ...keys }),
    };
    return [{ resource: secrets, object, ...(keys === undefined ? { fresh: "ssh-key" as const } : {}) }];
  },
};
