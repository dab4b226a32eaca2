/**
 * The invariants of executors' memory and machines, judged from objects alone.
 *
 * E16. An executor has the first memory of its scenario, or the next one for each time that an executor with the one
 *      before was OOMKilled; and the next one once the record lists that. The last one stays.
 * E17. Without a fault, no executor is left on a machine that is gone.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import type { Facts, Pod } from "./facts.ts";
import { at, textAt } from "./fields.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

/** The memory of a pod's first container, MiB. */
const memoryOf = (pod: Item): number =>
  Number(/^(\d+)Mi$/.exec(textAt(listAt(pod, "spec", "containers")[0], "resources", "limits", "memory") ?? "")?.[1]);

const isOutOfMemory = (pod: Item): boolean =>
  listAt(pod, "status", "containerStatuses").some(
    (status) => textAt(status, "state", "terminated", "reason") === "OOMKilled",
  );

/** A decision made before a fact was known may arrive this late, ms. */
const latestMs = 16_000;

/** E16, for a pod of an executor; `sizes`: the memory of a run's executors, MiB, in their order. */
const checkSize = (
  { sizes }: Facts,
  { driver, name }: Pod,
  { object, now }: { readonly object: Item; readonly now: number },
  allowed: readonly number[],
  blame: Blame,
): void => {
  const outgrown = sizes.filter((one) => one.driver === driver && one.outOfMemory);
  const after = (known: typeof outgrown): number =>
    Math.min(allowed.length - 1, Math.max(0, ...known.map(({ size }) => allowed.indexOf(size) + 1)));
  const index = allowed.indexOf(memoryOf(object));
  const recorded = outgrown.filter(({ recordedAt = now }) => recordedAt + latestMs < now);
  if (index < 0) blame(`E16: ${name} has ${memoryOf(object)} MiB`);
  else if (index > after(outgrown)) blame(`E16: ${name} has ${memoryOf(object)} MiB, and none with less lacked memory`);
  else if (index < after(recorded)) blame(`E16: ${name} has ${memoryOf(object)} MiB, with which one was OOMKilled`);
};

/** Takes in the memory of an executor's pod, and its end by lack of it. */
export const hearSize = (
  facts: Facts,
  { object }: Pick<Change, "object">,
  now: number,
  { sizes: allowed, blame }: { readonly sizes: readonly number[] | undefined; readonly blame: Blame },
): void => {
  const { uid } = object.metadata;
  const pod = facts.pods.get(uid);
  if (allowed === undefined || pod?.role !== "executor") return;
  const known = facts.sizes.find((one) => one.uid === uid);
  if (known !== undefined) {
    known.outOfMemory ||= isOutOfMemory(object);
    return;
  }
  checkSize(facts, pod, { object, now }, allowed, blame);
  const size = memoryOf(object);
  facts.sizes.push({ uid, driver: pod.driver, size, outOfMemory: false, recordedAt: undefined });
};

/** Takes in the losses for lack of memory that a saved record lists. */
export const hearLacks = ({ sizes }: Facts, record: Item, now: number): void => {
  const losses = listAt(record, "spec", "memory", "executors", "losses");
  const lacks = new Set(losses.flatMap((loss) => (textAt(loss, "reason") === "memory" ? textAt(loss, "uid") : [])));
  for (const one of sizes) if (lacks.has(one.uid)) one.recordedAt ??= now;
};

/** Counts for how long an executor is left on a machine that is gone, before a change of its pod is taken in. */
export const hearMachines = (facts: Facts, { table, type, object }: Change, now: number): void => {
  if (table === "nodes" && type === "DELETED") facts.goneMachines.set(object.metadata.name, now);
  if (facts.goneMachines.size === 0) return;
  for (const { role, live, leaving, node } of facts.pods.values()) {
    const since = facts.goneMachines.get(node ?? "") ?? now;
    if (role === "executor" && live && leaving !== true) facts.leftMs = Math.max(facts.leftMs, now - since);
  }
};

/** The longest time, ms. Kubernetes deletes the pods of a machine that is gone after 40 s. */
const longestLeftMs = 5_000;

/** E17, for a run without a fault: after a death, Kubernetes comes first. */
export const leftBehind = ({ leftMs }: Facts): readonly string[] =>
  leftMs > longestLeftMs ? [`E17: an executor is left for ${leftMs} ms on a machine that is gone`] : [];
