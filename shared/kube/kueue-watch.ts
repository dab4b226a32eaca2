/** The watch of Workloads that Rekindle has created, for the kinds that Kueue admits. It imports no decisions. */
import { fieldsOf, same } from "../core/json.ts";
import type { Obj, Stored } from "../core/object.ts";
import type { Watch } from "../core/operator.ts";
import { conditionsOf, isActive, isTrue, ownWorkloads, workloads } from "./kueue.ts";
import { selectorText } from "./paths.ts";
import { isEnding } from "./pods.ts";
import { only, trim } from "./trim.ts";

/** Whether Kueue lets pods run: for each condition that decides it, its status. */
const admissionIn = (workload: Obj): unknown => [
  isActive(workload),
  ["Admitted", "Evicted", "QuotaReserved", "Finished"].map((type) => isTrue(workload, type)),
];

/** The admission of a Workload that was just created: the step that created it knows it. */
const fresh = [true, [false, false, false, false]];

const isAdmitted = (workload: Obj | undefined): boolean => workload !== undefined && isTrue(workload, "Admitted");

/** Keeps what `admissionIn` reads: a Workload holds the templates of all pods, and steps read it themselves. */
const trimWorkload = (workload: Stored): Stored => ({
  ...trim(workload),
  spec: only(fieldsOf(workload.spec), ["active"]),
  status: { conditions: conditionsOf(workload).map((one) => only(one, ["type", "status"])) },
});

/** Sends the key of the object that `ownerName` names when Kueue's decision about one of its Workloads changes. */
export const workloadWatch = (ownerName: Watch["ownerName"]): Watch => ({
  resource: workloads,
  selector: selectorText(ownWorkloads),
  optional: true,
  trim: trimWorkload,
  ownerName,
  matters: (before, after) =>
    isEnding(after) || !same(before === undefined ? fresh : admissionIn(before), admissionIn(after)),
  urgent: (before, after) => isAdmitted(after) && !isAdmitted(before),
});
