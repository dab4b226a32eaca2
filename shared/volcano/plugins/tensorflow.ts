/** `tensorflow`: TF_CONFIG, by which every process knows the cluster and its own place in it. */
import { withEnv } from "../pods/draft.ts";
import { domainsOf } from "../pods/names.ts";
import { replicasOf } from "../schema/spec.ts";
import { flagsOf } from "./flags.ts";
import { indexOf, type Plugin, taskNamed, taskOf } from "./plugin.ts";

const flags = { ps: "ps", worker: "worker", chief: "chief", evaluator: "evaluator", port: 2222 } as const;

const roles = ["ps", "worker", "chief", "evaluator"] as const;

export const tensorflow: Plugin = {
  flags,
  noted: true,
  onPod: (draft, scope, args) => {
    const [first, ...more] = scope.tasks;
    if (first !== undefined && more.length === 0 && replicasOf(first) === 1) return draft;
    const read = flagsOf(args, flags);
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
