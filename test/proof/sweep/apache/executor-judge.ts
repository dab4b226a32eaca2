/**
 * The invariants of executors that Rekindle creates for an application of `spark.apache.org`, judged from objects alone.
 *
 * D8. An executor that a step creates has an id of its own, which no earlier one had, and a living driver that owns it.
 * D9. At rest, where the application runs, as many of them live as its conf states; under dynamic allocation never more than its
 *     maximum. Where its pods are kept, none lives.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, ownersOf } from "../fields.ts";
import type { Facts } from "./facts.ts";
import { isKept } from "./histories.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

const isOwn = (pod: Item): boolean => pod.metadata.annotations?.["rekindle.dev/executors"] === "own";

const livingIn = ({ executors }: Facts): number =>
  [...executors.values()].filter(({ live, leaving, own }) => own && live && !leaving).length;

const confOf = ({ conf }: Facts, name: string): string | undefined => {
  const value = at(conf, name);
  return typeof value === "string" ? value : undefined;
};

const isDynamic = (facts: Facts): boolean => confOf(facts, "spark.dynamicAllocation.enabled") === "true";

/** D8 and D9, for an executor that a step has created. */
export const checkExecutor = (facts: Facts, pod: Item, blame: Blame): void => {
  const id = pod.metadata.labels?.["spark-exec-id"] ?? "";
  if (facts.executorIds.has(id)) blame(`D8: ${pod.metadata.name} has the id of an earlier executor`);
  facts.executorIds.add(id);
  if (!ownersOf(pod).some((owner) => facts.drivers.get(owner)?.live === true))
    blame(`D8: ${pod.metadata.name} comes without a living driver`);
  const most = Number(confOf(facts, "spark.dynamicAllocation.maxExecutors") ?? Number.POSITIVE_INFINITY);
  if (isDynamic(facts) && livingIn(facts) + 1 > most)
    blame(`D9: ${livingIn(facts) + 1} executors live, and ${most} may`);
};

/** The facts of an executor's pod. */
export const executorIn = (pod: Item, driver: string, live: boolean) => ({
  ...{ driver, live, own: isOwn(pod) },
  leaving: pod.metadata.deletionTimestamp !== undefined,
});

/** D9, at the end. */
export const checkExecutors = (facts: Facts, blame: Blame): void => {
  const living = livingIn(facts);
  if (isKept(facts.phase) && living > 0) blame(`D9: ${living} executors live, and their driver has ended`);
  if (facts.phase !== "RunningHealthy" || facts.executorIds.size === 0) return;
  const wanted = Number(
    confOf(facts, isDynamic(facts) ? "spark.dynamicAllocation.maxExecutors" : "spark.executor.instances"),
  );
  if (living !== wanted) blame(`D9: ${living} executors live where ${wanted} are wanted`);
};
