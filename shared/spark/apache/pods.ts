/** Finds the pods of an application of `spark.apache.org`, and sorts out those of its present attempt. */
import { get, list, type Reads } from "../../core/decision.ts";
import type { Key } from "../../core/key.ts";
import { attemptLabel, type Stored } from "../../core/object.ts";
import { appUidLabel, labelOf, ownedBy } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import type { Run } from "./memory.ts";
import { nameLabel } from "./resource.ts";

export type AttemptPods = {
  /** The driver of the present attempt. */
  readonly driver: Stored | undefined;
  readonly executors: readonly Stored[];
  /** Pods of other attempts. */
  readonly strays: readonly Stored[];
};

/** Pods that upstream's operator made have Spark's label alone, which is the same for all attempts if the user set it. */
const isOf = (pod: Stored, { attempt, applicationId }: Run): boolean => {
  const marked = labelOf(pod, attemptLabel);
  return marked === undefined ? labelOf(pod, "spark-app-selector") === applicationId : marked === `${attempt}`;
};

/** True for executors of one of these drivers, or with the mark of the application. */
const belongs = (pod: Stored, uid: string, drivers: readonly string[]): boolean =>
  labelOf(pod, appUidLabel) === uid || drivers.some((driver) => ownedBy(pod, driver));

/** Labels are for anyone to write: a driver is the application's only by its owner. */
export const sorted = (found: readonly Stored[], uid: string, run: Run): AttemptPods => {
  const drivers = found.filter((pod) => labelOf(pod, "spark-role") === "driver" && ownedBy(pod, uid));
  const known = [
    ...drivers.map(({ metadata }) => metadata.uid),
    ...(run.driverUid === undefined ? [] : [run.driverUid]),
  ];
  const executors = found.filter((pod) => labelOf(pod, "spark-role") === "executor" && belongs(pod, uid, known));
  const own = (pod: Stored): boolean => isOf(pod, run);
  return {
    driver: drivers.find(own),
    executors: executors.filter(own),
    strays: [...drivers, ...executors].filter((pod) => !own(pod)),
  };
};

/** The pods of an application. A list may be older than its driver: one that is expected and missing is read by its name, too. */
export function* readPods({ namespace, name }: Key, uid: string, run: Run, expects: boolean): Reads<AttemptPods> {
  const listed = yield* list({ do: "list", resource: pods, namespace, labels: { [nameLabel]: name } });
  const found = sorted(listed, uid, run);
  if (found.driver !== undefined || !expects) return found;
  const driver = yield* get({
    do: "get",
    ref: { resource: pods, namespace, name: run.driverName ?? `${run.applicationId}-driver` },
  });
  return driver === undefined ? found : sorted([...listed, driver], uid, run);
}
