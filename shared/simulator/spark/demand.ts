/**
 * A driver's own dynamic allocation where its script has a gauge. The wanted number follows the gauge as in Spark: up
 * by one executor after the backlog timeout, then by twice as many each time; down at once. Executors that the driver
 * has not needed for its idle timeout end.
 */

import { exitTask, type Kubelets } from "../nodes/kubelet.ts";
import { busyUntil, isUp } from "../nodes/pod-status.ts";
import type { Driver } from "../nodes/script.ts";
import type { Item } from "../storage/metadata.ts";
import { runAfter } from "../verbs/remove.ts";
import {
  allocate,
  confOf,
  driverIn,
  executorsOf,
  farewellMs,
  fewest,
  isDynamic,
  labelOf,
  taskOf,
  wantedBy,
} from "./drivers.ts";

const secondsOf = (driver: Driver, name: string, otherwise: string): number =>
  Number.parseInt(confOf(driver, `spark.dynamicAllocation.${name}`, otherwise), 10);

const backlogMs = (driver: Driver): number => secondsOf(driver, "schedulerBacklogTimeout", "1s") * 1_000;
const idleMs = (driver: Driver): number => secondsOf(driver, "executorIdleTimeout", "60s") * 1_000;

/** A backlog timeout of a day keeps a driver from asking for executors. */
const neverMs = 86_400_000;

/** True of a driver that allocates by the gauge of its script. */
export const followsGauge = (driver: Driver): boolean =>
  isDynamic(driver) && driver.script.gauge !== undefined && backlogMs(driver) < neverMs;

/** The most executors that the driver has needed at a time within `overMs`, within its bounds. */
const neededBy = (driver: Driver, pod: Item, now: number, overMs = 0): number => {
  const at = now - busyUntil(pod, 0);
  const { gauge: levels = [] } = driver.script;
  const shown = levels.filter(
    ([from], index) => from <= at && (levels[index + 1]?.[0] ?? Number.POSITIVE_INFINITY) > at - overMs,
  );
  const needed = Math.max(fewest(driver), ...shown.map(([, gauge]) => (typeof gauge === "number" ? gauge : 0)));
  return Math.min(needed, Number(confOf(driver, "spark.dynamicAllocation.maxExecutors", "Infinity")));
};

/** Looks at the demand whenever the gauge changes. */
export const beginFollowing = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverIn(memory, pod);
  if (driver === undefined || !followsGauge(driver)) return;
  for (const [from] of driver.script.gauge ?? [])
    runAfter(server, Math.max(0, busyUntil(pod, from) - server.clock.now()), taskOf("spark.demand", driver));
};

/** The gauge has changed. */
export const hearDemand = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverIn(memory, pod);
  if (driver === undefined) return;
  const [needed, wanted] = [neededBy(driver, pod, server.clock.now()), wantedBy(driver)];
  const waits = needed > wanted && (driver.adds ?? 0) === 0;
  const adds = needed > wanted ? Math.max(1, driver.adds ?? 0) : 0;
  memory.remember({ ...driver, wanted: Math.min(needed, wanted), adds });
  if (waits) runAfter(server, backlogMs(driver), taskOf("spark.raise", driver));
  runAfter(server, idleMs(driver), taskOf("spark.dismiss", driver));
};

/** Tasks have waited for the backlog timeout. */
export const raise = (kubelets: Kubelets, pod: Item): void => {
  const { server, memory } = kubelets;
  const driver = driverIn(memory, pod);
  const adds = driver?.adds ?? 0;
  if (driver === undefined || adds === 0) return;
  const needed = neededBy(driver, pod, server.clock.now());
  const wanted = Math.min(needed, wantedBy(driver) + adds);
  const isEnough = wanted === needed;
  memory.remember({ ...driver, wanted, adds: isEnough ? 0 : 2 * adds });
  allocate(kubelets, pod);
  if (!isEnough) runAfter(server, backlogMs(driver), taskOf("spark.raise", driver));
};

/** Ends the executors that were not needed within the idle timeout, the newest first. */
export const dismissIdle = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverIn(memory, pod);
  if (driver === undefined) return;
  const idOf = (executor: Item): number => Number(labelOf(executor, "spark-exec-id"));
  const up = executorsOf(server, driver).filter(isUp);
  const staying = neededBy(driver, pod, server.clock.now(), idleMs(driver) - 1);
  for (const executor of up.toSorted((a, b) => idOf(a) - idOf(b)).slice(staying))
    runAfter(server, farewellMs, exitTask(executor, { code: 0 }));
};
