/** The account of a run's executors at its end: when its driver ends, or when its user interrupts it. */
import type { Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { isEnding, podStatus, terminationOf } from "../../../kube/pods.ts";
import { account } from "../../executors/account.ts";
import { settled } from "../../executors/ledger.ts";
import { endingOf, type LossReason } from "../../executors/losses.ts";
import type { ApplicationContext } from "../run/context.ts";
import { driverContainer, endOf, evidenceOf, type Pods } from "../state/evidence.ts";
import { acts } from "../state/machine.ts";
import type { Driver, Memory } from "../state/memory.ts";
import { ledgerOf } from "./monitor.ts";
import { withEnds } from "./pending-ends.ts";
import { lossEvents, unreportedIn, worthTelling } from "./warnings.ts";

/** True when it ended before the driver. Of one whole second, a finished one was first: its driver told it to end. */
const endedFirst = (pod: Stored, endedAt: number): boolean => {
  const { at = Number.POSITIVE_INFINITY, reason } = endingOf(pod) ?? {};
  return at < endedAt || (at === endedAt && reason === "finished");
};

/** Reasons that a driver's end causes as well: while its time is unknown, such an end is no evidence of a loss. */
const byDriversEnd: ReadonlySet<LossReason | undefined> = new Set<LossReason | undefined>([
  "failed",
  "killed",
  "disconnected",
  "terminated",
  "deleted",
]);

/** True when the pod still shows when the driver ended. */
const isDated = ({ driver }: Pods): boolean =>
  driver !== undefined && terminationOf(podStatus(driver), driverContainer) !== undefined;

/** The memory of a closed account, and the events to record before. */
export type Closed = { readonly memory: Memory; readonly first: readonly Effect[] };

type Run = { readonly scene: ApplicationContext; readonly driver: Driver; readonly found: Pods };

/** Records the losses that these pods show; all other executors end with the run. */
const closedWith = ({ scene, driver, found }: Run, executors: readonly Stored[]): Closed => {
  const ledger = ledgerOf(scene, driver);
  const last = account(ledger, { pods: executors, now: scene.view.now, certain: false });
  const { executors: _, ...bare } = scene.memory;
  const next = withEnds(scene, { before: ledger, next: settled(last.ledger), executors: found.executors });
  return {
    memory: Object.keys(next).length === 1 ? bare : { ...bare, executors: next },
    first: lossEvents(scene, [...unreportedIn(ledger), ...worthTelling(last.lost)]),
  };
};

const endedBefore = (found: Pods, endedAt: number): readonly Stored[] => {
  const dated = isDated(found);
  return found.executors.filter(
    (pod) => endedFirst(pod, endedAt) && (dated || !byDriversEnd.has(endingOf(pod)?.reason)),
  );
};

/** The account at the driver's end: losses before it are recorded, executors that end with it are no losses. */
export const closed = (scene: ApplicationContext, driver: Driver, found: Pods): Closed => {
  const { state } = scene.memory;
  const endedAt = "endedAt" in state ? state.endedAt : scene.view.now;
  return closedWith({ scene, driver, found }, endedBefore(found, endedAt));
};

/**
 * The account of a run that its user interrupts, before any pod of it is deleted: afterwards losses look like
 * deletions. While the driver runs, each executor that ended had a reason of its own. Undefined: closed before, or
 * none.
 */
export const interrupted = (scene: ApplicationContext, found: Pods): Closed | undefined => {
  const { view, memory } = scene;
  const { driver } = memory;
  if (driver === undefined || view.memory === undefined || acts[view.memory.state.phase] !== "follow") return undefined;
  const body = found.driver;
  const endedAt = body === undefined ? undefined : endOf(body);
  const lives = body !== undefined && endedAt === undefined && !isEnding(body) && evidenceOf(body) !== "failed";
  return closedWith({ scene, driver, found }, lives ? found.executors : endedBefore(found, endedAt ?? view.now));
};
