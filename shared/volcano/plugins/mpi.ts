/** `mpi`: a port for the daemon in every container, and the list of workers for the master. */
import { type Draft, inContainers, withEnv, withPort } from "../pods/draft.ts";
import { domainsOf } from "../pods/names.ts";
import { flagsOf, type Plugin, taskNamed, taskOf } from "./plugin.ts";

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
