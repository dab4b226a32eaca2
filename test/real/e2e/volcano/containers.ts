/**
 * Stand-ins for the containers of upstream's examples. A command whose programs exist on this machine runs; every other
 * container follows its row (start, duration, exit code). Images that the node agent knows (busybox) need no row.
 */
import type { StandInRow } from "../../cluster/node/standins.ts";

/** Serves until it is terminated. */
const serves = { startMs: 300 };

/** Runs for this many seconds and exits with 0. */
const works = (seconds: number) => ({ startMs: 500, runMs: seconds * 1_000, exitCode: 0 });

export const containers: readonly StandInRow[] = [
  // JobTemplates: nginx's image, with a shell that runs `sleep` as its command.
  { image: "^nginx", command: "^sh -c sleep 10s$", runs: "command" },
  { image: "^nginx(:.*)?$", command: "^$", runs: serves },
  // mpiexec over ssh: the master's run ends, sshd on the workers does not.
  { image: "^volcanosh/example-mpi:", pod: "-mpimaster-", runs: works(6) },
  { image: "^volcanosh/example-mpi:", pod: "-mpiworker-", runs: serves },
  { image: "^volcanosh/horovod-tf-mnist:", pod: "-master-", runs: works(6) },
  { image: "^volcanosh/horovod-tf-mnist:", pod: "-worker-", runs: serves },
  // TensorFlow's parameter servers do not end, its workers do.
  { image: "^volcanosh/(example-tf|dist-mnist-tf-example):", pod: "-ps-", runs: serves },
  { image: "^volcanosh/(example-tf|dist-mnist-tf-example):", pod: "-worker-", runs: works(5) },
  // MXNet's ps-lite ends all its roles together.
  { image: "^volcanosh/mxnet-train-mnist-cpu:", runs: works(5) },
  { image: "^volcanosh/edlctr:", pod: "-pserver-", runs: serves },
  { image: "^volcanosh/edlctr:", pod: "-trainer-", runs: works(6) },
  { image: "^lyd911/mindspore-cpu-example:", runs: works(4) },
  // Its master waits for an hour after the run.
  { image: "^lyd911/mindspore-gpu-example:", runs: serves },
  { image: "^bitnami/ray:", runs: serves },
];
