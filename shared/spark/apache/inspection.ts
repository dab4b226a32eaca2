/** Apache's SparkApplication as the command line and the page show it. */
import { fieldsOf } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { localQueueOf } from "../../kube/kueue.ts";
import { adviceOf, type KindInspection, type ObjectState, untilStarted } from "../../kube/object-state.ts";
import { isReady, labelOf } from "../../kube/pods.ts";
import { isDriver } from "../executors/roles.ts";
import { nameLabel } from "./resource.ts";
import { readApache } from "./spec/read.ts";
import { statedExecutors } from "./spec/run-spec.ts";
import { apacheSparkApplicationStates } from "./states.ts";
import { type ApplicationRecord, currentOf, newestOf, recordIn } from "./status/record.ts";
import { groupOf, isFailure, isSummary } from "./status/summary.ts";

/** The state that the status shows; "" where it shows none. */
const shownState = ({ status }: Obj): string => {
  const state = fieldsOf(fieldsOf(status)["currentState"])["currentStateSummary"];
  return typeof state === "string" ? state : "";
};

/** How an application whose last state is shown has ended: as its last attempt did. */
const endOf = (record: ApplicationRecord | undefined): ObjectState["ended"] => {
  if (record === undefined || groupOf(currentOf(record).summary) !== "terminated") return undefined;
  const last = newestOf(record.history, "stopping") ?? newestOf(record.previous?.history ?? [], "stopping");
  return last !== undefined && isFailure(last.summary) ? "badly" : "well";
};

/** Why the last attempt ended, where the present message only says what became of its objects. */
const messageOf = (record: ApplicationRecord | undefined): string | undefined => {
  if (record === undefined) return undefined;
  const current = currentOf(record);
  if (groupOf(current.summary) !== "terminated") return current.message;
  return newestOf(record.history, "stopping")?.message ?? current.message;
};

/** True of an application with a LocalQueue whose next attempt has not begun. */
const waitsForKueue = (object: Obj, state: string): boolean =>
  localQueueOf(object) !== undefined &&
  fieldsOf(object.spec)["suspend"] !== true &&
  (state === "" || (isSummary(state) && groupOf(state) === "initializing"));

const standingOf = (object: Obj): ObjectState => {
  const record = recordIn(object.status);
  const state = record === undefined ? shownState(object) : currentOf(record).summary;
  return {
    state: state === "" ? "NEW" : state,
    attempts: record === undefined ? undefined : record.attempt.id + 1,
    message: messageOf(record),
    since:
      instantOf(record === undefined ? undefined : currentOf(record).at) ??
      instantOf(object.metadata.creationTimestamp),
    ended: endOf(record),
    what: waitsForKueue(object, state)
      ? untilStarted(localQueueOf(object) ?? "", object)
      : adviceOf(apacheSparkApplicationStates, state, "state"),
  };
};

/** The executors that a spec states, where it can be read. */
const wantedOf = (object: Obj): number | undefined => {
  const read = readApache(object);
  return read.ok ? statedExecutors(read.spec) : undefined;
};

export const apacheSparkApplicationInspection: KindInspection = {
  podLabels: (name) => ({ [nameLabel]: name }),
  stateOf: standingOf,
  mainPod: (_, pods) =>
    pods
      .filter(isDriver)
      .toSorted((a, b) => (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? ""))
      .at(-1)?.metadata.name,
  wide: (object) => {
    const { restartCounter = 0 } = recordIn(object.status)?.attempt ?? {};
    return { RESTARTS: restartCounter };
  },
  // The status has no executors: only the pods tell their number.
  podCount: (object) => [-1, wantedOf(object) ?? -1],
  executors: (object, pods) => {
    const state = shownState(object);
    if (!isSummary(state) || groupOf(state) !== "running") return undefined;
    const ready = pods.filter((pod) => labelOf(pod, "spark-role") === "executor" && isReady(pod));
    return { running: ready.length, wanted: wantedOf(object) };
  },
  kueue: { absence: "no Workload of it exists yet" },
  suspends: true,
};
