/**
 * The plugins of frameworks: `tensorflow`, `pytorch`, `hcclrank` and `ray` tell each process the cluster and its own
 * place in it; `mpi` gives every container a port for the daemon, and the master the list of workers.
 */

import { isRecord } from "../../core/json.ts";
import { derivedLabel } from "../../kube/names.ts";
import { services } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { domainsOf, firstDomain, ownerReference } from "../pods/names.ts";
import { appended, type Draft, inContainers, withEnv, withPort } from "../pods/pod.ts";
import { keys } from "../schema/resource.ts";
import { containersIn, nameOf, replicasOf } from "../schema/spec.ts";
import { flagsOf, indexOf, type Plugin, type Scope, taskNamed, taskOf } from "./plugin.ts";

const flags = { master: "master", worker: "worker", port: 22 } as const;

/** Returns the task that starts the processes of the others. */
export const mpiMaster = (args: readonly string[]): string => flagsOf(args, flags).master;

export const mpi: Plugin = {
  flags,
  noted: true,
  onPod: (draft, scope, args) => {
    const { master, worker, port } = flagsOf(args, flags);
    const opened = (inner: Draft): Draft =>
      inContainers(inner, (container) => withPort(container, "mpijob-port", port));
    if (taskOf(draft) !== master) return opened(draft);
    const workers = taskNamed(scope, worker);
    // As upstream's plugin: a master without a task of workers is left as it is, its port included.
    if (workers === undefined) return draft;
    const value = domainsOf(scope.owner.name, workers).join(",");
    return opened(withEnv(draft, [{ name: "MPI_HOST", value }]));
  },
};

const tensorflowFlags = { ps: "ps", worker: "worker", chief: "chief", evaluator: "evaluator", port: 2222 } as const;

const roles = ["ps", "worker", "chief", "evaluator"] as const;

/** `tensorflow`: TF_CONFIG, by which every process knows the cluster and its own place in it. */
export const tensorflow: Plugin = {
  flags: tensorflowFlags,
  noted: true,
  onPod: (draft, scope, args) => {
    const [first, ...more] = scope.tasks;
    if (first !== undefined && more.length === 0 && replicasOf(first) === 1) return draft;
    const read = flagsOf(args, tensorflowFlags);
    const cluster = roles.flatMap((role) => {
      const task = taskNamed(scope, read[role]);
      const hosts = task === undefined ? [] : domainsOf(scope.owner.name, task);
      return hosts.length === 0 ? [] : [[role, hosts.map((host) => `${host}:${read.port}`)]];
    });
    const name = taskOf(draft);
    const type = roles.find((role) => read[role] === name) ?? name;
    const value = JSON.stringify({
      cluster: Object.fromEntries(cluster),
      task: { type, index: Number(indexOf(draft)) },
    });
    return withEnv(draft, [{ name: "TF_CONFIG", value }]);
  },
};

const pytorchFlags = {
  master: "master",
  worker: "worker",
  port: 23456,
  "wait-master-enabled": false,
  "wait-master-timeout": 300,
  "wait-master-image": "busybox:1.36.1",
} as const;

const waiter = "wait-for-master";

/** Returns a shell script that tries every two seconds, and fails when the time is up. */
const waiting = (host: string, port: number, seconds: number): string =>
  [
    `end=$(($(date +%s) + ${seconds}))`,
    `until nc -z ${host} ${port} 2>/dev/null || (: >/dev/tcp/${host}/${port}) 2>/dev/null`,
    `do if [ "$(date +%s)" -ge "$end" ]; then echo "${host}:${port} did not answer in ${seconds} s"; exit 1; fi`,
    "sleep 2",
    "done",
  ].join("\n");

const waits = ({ spec }: Draft): boolean => {
  const { initContainers } = spec;
  return Array.isArray(initContainers) && initContainers.some((one) => isRecord(one) && one["name"] === waiter);
};

const rankOf = (draft: Draft, { master, worker }: { master: string; worker: string }): readonly Json[] => {
  const task = taskOf(draft);
  if (task === worker) return [{ name: "RANK", value: `${Number(indexOf(draft)) + 1}` }];
  return task === master ? [{ name: "RANK", value: "0" }] : [];
};

/** `pytorch`: the master's address, the number of processes, and the rank of each; workers may wait for the master. */
export const pytorch: Plugin = {
  flags: pytorchFlags,
  noted: true,
  onPod: (draft, scope, args) => {
    const read = flagsOf(args, pytorchFlags);
    const master = taskNamed(scope, read.master);
    if (master === undefined) return draft;
    const { port } = read;
    const host = firstDomain(scope.owner.name, master);
    const size = [read.master, read.worker]
      .map((name) => taskNamed(scope, name))
      .reduce((sum, task) => sum + (task === undefined ? 0 : replicasOf(task)), 0);
    const variables = [
      { name: "MASTER_ADDR", value: host },
      { name: "MASTER_PORT", value: `${port}` },
      { name: "WORLD_SIZE", value: `${size}` },
      ...rankOf(draft, read),
    ];
    const configured = inContainers(withEnv(draft, variables), (one) => withPort(one, "pytorchjob-port", port));
    if (!read["wait-master-enabled"] || taskOf(draft) !== read.worker || waits(draft)) return configured;
    const command = ["sh", "-c", waiting(host, port, read["wait-master-timeout"])];
    const init = { name: waiter, image: read["wait-master-image"], command };
    return { ...configured, spec: appended(configured.spec, "initContainers", [init]) };
  },
};

const hcclrankFlags = { master: "master", worker: "worker" } as const;

const annotation = "hccl/rankIndex";

const rankVariable = ({ spec }: Draft): string => {
  const variables = containersIn(spec).flatMap(({ env }) => (Array.isArray(env) ? env.filter(isRecord) : []));
  const value = variables.find(({ name }) => name === "RANK")?.["value"];
  return typeof value === "string" ? value : "";
};

const placeOf = (draft: Draft, scope: Scope, args: readonly string[]): string => {
  const { master, worker } = flagsOf(args, hcclrankFlags);
  const task = taskOf(draft);
  const index = Number(indexOf(draft));
  if (task === master) return `${index}`;
  if (task !== worker) return "";
  const masters = taskNamed(scope, master);
  return `${(masters === undefined ? 0 : replicasOf(masters)) + index}`;
};

/** `hcclrank`: the pod's rank as an annotation, from its RANK variable or its place among masters and workers. */
export const hcclrank: Plugin = {
  flags: hcclrankFlags,
  noted: false,
  onPod: (draft, scope, args) => {
    const { annotations = {} } = draft.metadata;
    if ((annotations[annotation] ?? "") !== "") return draft;
    const rank = rankVariable(draft) || placeOf(draft, scope, args);
    if (rank === "") return draft;
    return { ...draft, metadata: { ...draft.metadata, annotations: { ...annotations, [annotation]: rank } } };
  },
};

const rayFlags = {
  head: "head",
  headContainer: "head",
  worker: "worker",
  workerContainer: "worker",
  port: 6379,
  dashboardPort: 8265,
  clientPort: 10001,
} as const;

type Read = ReturnType<typeof read>;

const read = (args: readonly string[]) => flagsOf(args, rayFlags);

const portsOf = ({ port, dashboardPort, clientPort }: Read): readonly (readonly [string, number])[] => [
  ["gcs", port],
  ["dashboard", dashboardPort],
  ["client-server", clientPort],
];

const asHead = (container: Json, parsed: Read): Json => {
  const opened = portsOf(parsed).reduce((before, [name, number]) => withPort(before, name, number), container);
  const { port, dashboardPort, clientPort } = parsed;
  const options = `--port=${port} --dashboard-port=${dashboardPort} --ray-client-server-port=${clientPort}`;
  return { ...opened, command: ["sh", "-c", `ray start --head --block --dashboard-host=0.0.0.0 ${options}`] };
};

const asWorker = (container: Json, address: string): Json => ({
  ...container,
  command: ["sh", "-c", `ray start --block --address=${address}`],
});

const onPod = (draft: Draft, scope: Scope, args: readonly string[]): Draft => {
  const parsed = read(args);
  const head = taskNamed(scope, parsed.head);
  if (head === undefined) return draft;
  const address = `${firstDomain(scope.owner.name, head)}:${parsed.port}`;
  const task = taskOf(draft);
  return inContainers(draft, (container) => {
    if (task === parsed.head && container["name"] === parsed.headContainer) return asHead(container, parsed);
    const works = task === parsed.worker && container["name"] === parsed.workerContainer;
    return works ? asWorker(container, address) : container;
  });
};

/** `ray`: the head's and the workers' commands, the head's ports, and a service in front of it. */
export const ray: Plugin = {
  flags: rayFlags,
  noted: true,
  onPod,
  notices: ({ tasks }, args) => {
    const { head, headContainer, worker, workerContainer } = read(args);
    return tasks.flatMap((task) => {
      const own = nameOf(task) === head ? headContainer : nameOf(task) === worker ? workerContainer : undefined;
      const replaced = containersIn(task.template?.spec).find(
        ({ name, command, args: words }) => own !== undefined && name === own && (command ?? words) !== undefined,
      );
      return replaced === undefined
        ? []
        : [
            `it replaces the command of container ${own} of task ${nameOf(task)} by ray start, as upstream's: leave command and args out, or put your own into another container`,
          ];
    });
  },
  refuses: (scope, args) => {
    const { head } = read(args);
    return taskNamed(scope, head) === undefined ? `job ${scope.owner.name} doesn't have head task ${head}` : undefined;
  },
  objects: ({ owner }, args) => {
    const parsed = read(args);
    const ports = portsOf(parsed).map(([name, port]) => ({ name, port, targetPort: name, protocol: "TCP" }));
    const selector = {
      [keys.jobName]: owner.name,
      [keys.jobNamespace]: owner.namespace,
      [keys.taskSpec]: parsed.head,
    };
    const metadata = {
      name: derivedLabel(owner.name, "head-svc"),
      namespace: owner.namespace,
      ownerReferences: [ownerReference(owner)],
    };
    return [{ resource: services, object: { apiVersion: "v1", kind: "Service", metadata, spec: { selector, ports } } }];
  },
};
