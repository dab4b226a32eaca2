/** The pods of a run as it begins, without creating any: for a quota, and for people. Pure. */

import { fieldsOf } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { type Amounts, add, multiply, usageAtCreation } from "../../kube/pod-usage.ts";
import type { Quantity } from "../../kube/quantity.ts";
import { type Conf, flagOf } from "../configuration/conf.ts";
import { executorOf } from "../executor-pod/builder.ts";
import { firstId } from "../executors/allotment.ts";
import { dynamicConf } from "../schema/rules.ts";
import { planned, type SubmissionInput } from "./submit.ts";

type PlannedPods = {
  readonly driver: Obj;
  readonly executor: Obj;
  /** The executors at the start: with dynamic allocation the initial ones, which are at least the minimum. */
  readonly executors: number;
};

/** The executors that a driver requests at its start, as Spark's SchedulerBackendUtils. */
const firstIn = (conf: Conf): number => {
  const count = (key: string): number | undefined => {
    const text = conf.get(key)?.trim() ?? "";
    return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  };
  const fixed = count("spark.executor.instances");
  if (!flagOf(conf, dynamicConf)) return fixed ?? 2;
  const least = count("spark.dynamicAllocation.minExecutors") ?? 0;
  return Math.max(least, count("spark.dynamicAllocation.initialExecutors") ?? least, fixed ?? 0);
};

/** The secret that a driver would make: no amount depends on it. */
const authSecret = "planned";

/** The pods of a run; an executor is built as the driver's own allocator builds it. */
export const plannedPods = (input: SubmissionInput): PlannedPods | { readonly refused: string } => {
  const made = planned(input);
  if ("refused" in made) return made;
  const { submission, basis, given } = made;
  const driver = { name: submission.driverPodName, uid: "", ip: undefined };
  const one = executorOf({ ...basis, authSecret, executorId: `${firstId}`, driver });
  if ("refused" in one) return one;
  return { driver: submission.driver, executor: one.pod, executors: firstIn(given) };
};

/** The usage of a run's pods as a quota counts it, by its resource names. */
export const plannedUsage = ({ driver, executor, executors }: PlannedPods): Amounts => {
  const sum = new Map<string, Quantity>();
  add(sum, usageAtCreation(fieldsOf(driver.spec)));
  add(sum, multiply(usageAtCreation(fieldsOf(executor.spec)), executors));
  return sum;
};
