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
import { nameOf, replicasOf, type Task } from "../schema/spec.ts";
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

/** The longest variable with which Linux starts a process, bytes: name, equals sign and value. */
const longestVariable = 131_071;

/** The largest data of a ConfigMap, bytes. */
const largestMap = 1_048_576;

/** Returns what is too large in a job of many pods. All names are ASCII, so characters are bytes. */
const tooLarge = (scope: Scope, inEnvironment: boolean): readonly string[] => {
  const most = scope.tasks.reduce((sum, task) => sum + replicasOf(task), 0);
  // A pod's name and the job's name have at most 63 characters each.
  if (most * 128 < longestVariable) return [];
  const data = Object.entries(hosted(scope));
  const total = data.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  const map =
    total > largestMap
      ? [
          `the ConfigMap ${mapName(scope.owner)} would have ${total} bytes, and Kubernetes stores at most ${largestMap}: use fewer replicas, for no pod starts without it`,
        ]
      : [];
  const long = data.find(([name, text]) => name.startsWith("VC_") && name.length + 1 + text.length > longestVariable);
  if (!inEnvironment || long === undefined) return map;
  const [name, text] = long;
  return [
    ...map,
    `the variable ${name} has ${name.length + 1 + text.length} bytes, and Linux starts no process with more than ${longestVariable}: set --inject-hosts-env=false and read the hosts from /etc/volcano, or use fewer replicas`,
  ];
};

const noService = ({ owner: { name } }: Scope): readonly string[] =>
  name.includes(".")
    ? [
        `the job's name ${name} has a dot, so no Service can have it, and the API server refuses it: name the job without dots`,
      ]
    : [];

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
  notices: (scope, args) => [...noService(scope), ...tooLarge(scope, flagsOf(args, svcFlags)["inject-hosts-env"])],
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
