/** `mpi`: a port for the daemon in every container, and the list of workers for the master. */
import { inContainers, withEnv, withPort } from "../pods/draft.ts";
import { domainsOf } from "../pods/names.ts";
import { flagsOf } from "./flags.ts";
import { type Plugin, taskNamed, taskOf } from "./plugin.ts";

const flags = { master: "master", worker: "worker", port: 22 } as const;

/** The task that starts the others' processes. */
export const mpiMaster = (args: readonly string[]): string => flagsOf(args, flags).master;

export const mpi: Plugin = {
  flags,
  noted: true,
  onPod: (draft, scope, args) => {
    const { master, worker, port } = flagsOf(args, flags);
    const workers = taskNamed(scope, worker);
    const hosts = workers === undefined ? [] : domainsOf(scope.owner.name, workers);
    const told = taskOf(draft) === master ? withEnv(draft, [{ name: "MPI_HOST", value: hosts.join(",") }]) : draft;
    return inContainers(told, (container) => withPort(container, "mpijob-port", port));
  },
};
