/** The account of a run's executors at its end: its driver's, or one that its user asks for. */
import type { Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { isEnding, podStatus, terminationOf } from "../../../kube/pods.ts";
import { account } from "../../executors/account.ts";
import { settled } from "../../executors/ledger.ts";
import { endingOf, type LossReason } from "../../executors/losses.ts";
import type { ApplicationContext } from "../context.ts";
import { driverContainer, endOf, evidenceOf, type Pods } from "../driver/evidence.ts";
import { acts } from "../machine.ts";
import type { Driver, Memory } from "../memory.ts";
import { ledgerOf } from "./monitor.ts";
import { withEnds } from "./pending-ends.ts";
import { lossEvents, untoldIn, worthTelling } from "./warnings.ts";

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

/** What is remembered of an account that is closed, and what is to be told of it before. */
export type Closed = { readonly memory: Memory; readonly first: readonly Effect[] };

type Run = { readonly scene: ApplicationContext; readonly driver: Driver; readonly found: Pods };

/** What these pods show is recorded as lost; whoever else there is ends with the run. */
const closedWith = ({ scene, driver, found }: Run, executors: readonly Stored[]): Closed => {
  const ledger = ledgerOf(scene, driver);
  const last = account(ledger, { pods: executors, now: scene.view.now, certain: false });
  const { executors: _, ...bare } = scene.memory;
  const next = withEnds(scene, { before: ledger, next: settled(last.ledger), executors: found.executors });
  return {
    memory: Object.keys(next).length === 1 ? bare : { ...bare, executors: next },
    first: lossEvents(scene, [...untoldIn(ledger), ...worthTelling(last.lost)]),
  };
};

const endedBefore = (found: Pods, endedAt: number): readonly Stored[] => {
  const dated = isDated(found);
  return found.executors.filter(
    (pod) => endedFirst(pod, endedAt) && (dated || !byDriversEnd.has(endingOf(pod)?.reason)),
  );
};

/** The account at the driver's end: what was lost before it is recorded, what ends with it is no loss. */
export const closed = (scene: ApplicationContext, driver: Driver, found: Pods): Closed => {
  const { state } = scene.memory;
  const endedAt = "endedAt" in state ? state.endedAt : scene.view.now;
  return closedWith({ scene, driver, found }, endedBefore(found, endedAt));
};

/**
 * The account of a run that its user interrupts, before anything of it is ended: afterwards nobody can tell a loss from what
 * we did. While the driver lives, all that ended did so for reasons of its own. Undefined: it was closed before, or there is none.
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
