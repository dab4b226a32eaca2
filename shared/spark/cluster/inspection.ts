/** The kind SparkCluster as the command line and the page show it. */
import { fieldsOf } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { adviceOf, type KindInspection, type ObjectState } from "../../kube/object-state.ts";
import { isReady, labelOf } from "../../kube/pods.ts";
import { newestOf, statesIn } from "./memory.ts";
import { clusterLabel } from "./parts.ts";
import { readCluster } from "./read.ts";
import { sparkClusterStates } from "./states.ts";

const standingOf = (object: Obj): ObjectState => {
  const states = statesIn(object.status);
  const newest = states === undefined ? undefined : newestOf(states);
  const { currentStateSummary: shown = "" } = fieldsOf(fieldsOf(object.status)["currentState"]);
  const state = newest?.summary ?? String(shown);
  return {
    state: state === "" ? "NEW" : state,
    attempts: undefined,
    message: newest?.message,
    since: instantOf(newest?.at) ?? instantOf(object.metadata.creationTimestamp),
    ended: undefined,
    what: adviceOf(sparkClusterStates, state, "state"),
  };
};

const isOf = (role: string) => (pod: Obj) => labelOf(pod, "spark-role") === role;

/** The workers that a cluster starts with; an autoscaler may have changed their number. */
const workersOf = (object: Obj): number => {
  const read = readCluster(object);
  return read.ok ? read.spec.clusterTolerations.instanceConfig.initWorkers : -1;
};

export const sparkClusterInspection: KindInspection = {
  podLabels: (name) => ({ [clusterLabel]: name }),
  stateOf: standingOf,
  mainPod: (_, pods) => pods.find(isOf("master"))?.metadata.name,
  wide: (object) => {
    const { minWorkers = "", maxWorkers = "" } = fieldsOf(
      fieldsOf(fieldsOf(object.spec)["clusterTolerations"])["instanceConfig"],
    );
    return { MASTER: `${object.metadata.name}-master-svc`, WORKERS: `${String(minWorkers)}-${String(maxWorkers)}` };
  },
  // The status has no workers: only the pods tell their number.
  podCount: (object) => [-1, workersOf(object)],
  executors: (object, pods) =>
    standingOf(object).state === "RunningHealthy"
      ? { running: pods.filter((pod) => isOf("worker")(pod) && isReady(pod)).length, wanted: workersOf(object) }
      : undefined,
  suspends: true,
};
