/** `pytorch`: the master's address, the number of processes, and the rank of each; workers may wait for the master. */
import { isRecord, type Json } from "../../kube/responses.ts";
import { appended, type Draft, inContainers, withEnv, withPort } from "../pods/draft.ts";
import { firstDomain } from "../pods/names.ts";
import { replicasOf } from "../schema/spec.ts";
import { flagsOf } from "./flags.ts";
import { indexOf, type Plugin, taskNamed, taskOf } from "./plugin.ts";

const flags = {
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

export const pytorch: Plugin = {
  flags,
  noted: true,
  onPod: (draft, scope, args) => {
    const read = flagsOf(args, flags);
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
