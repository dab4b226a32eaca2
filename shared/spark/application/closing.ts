/** The account of a run's executors at its driver's end. */
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { podStatus, terminationOf } from "../../kube/pods.ts";
import { account } from "../executors/account.ts";
import { settled } from "../executors/ledger.ts";
import { endingOf, type LossReason } from "../executors/losses.ts";
import { lossEvents } from "./alarms.ts";
import { ledgerOf, toTell } from "./attending.ts";
import { driverContainer, type Pods } from "./evidence.ts";
import type { Driver, Memory } from "./memory.ts";
import type { Scene } from "./scene.ts";

/** Before the driver: pods tell whole seconds, and of one second one that is done is first, for its driver told it to end. */
const endedFirst = (pod: Stored, endedAt: number): boolean => {
  const { at = Number.POSITIVE_INFINITY, reason } = endingOf(pod) ?? {};
  return at < endedAt || (at === endedAt && reason === "finished");
};

/** What a driver's end does to its executors, too: where nobody knows when it ended, such an end says nothing. */
const byDriversEnd: ReadonlySet<LossReason | undefined> = new Set<LossReason | undefined>([
  "failed",
  "killed",
  "disconnected",
  "terminated",
  "deleted",
]);

/** The driver still shows when it ended. */
const isDated = ({ driver }: Pods): boolean =>
  driver !== undefined && terminationOf(podStatus(driver), driverContainer) !== undefined;

/** The account at the driver's end: what was lost before it is recorded, what ends with it is no loss. */
export const closed = (
  scene: Scene,
  driver: Driver,
  found: Pods,
): { readonly memory: Memory; readonly first: readonly Effect[] } => {
  const { state } = scene.memory;
  const endedAt = "endedAt" in state ? state.endedAt : scene.view.now;
  const ledger = ledgerOf(scene, driver);
  const dated = isDated(found);
  const before = found.executors.filter(
    (pod) => endedFirst(pod, endedAt) && (dated || !byDriversEnd.has(endingOf(pod)?.reason)),
  );
  const last = account(ledger, { pods: before, now: scene.view.now, certain: false });
  const { executors: _, ...bare } = scene.memory;
  const next = settled(last.ledger);
  return {
    memory: Object.keys(next).length === 1 ? bare : { ...bare, executors: next },
    first: lossEvents(scene, toTell(scene, driver, last.lost)),
  };
};
