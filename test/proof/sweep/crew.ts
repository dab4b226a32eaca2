/**
 * What must hold of a run's executors, judged from objects alone.
 *
 * E1. An executor's id is one pod's of its driver, and never another's: two never live under one, and none is used again.
 * E2. When all has come to rest and the application runs, as many executors live as its spec asks for.
 * E3. A record tells of each loss once, with a reason, and of no other node than that where its pod stood.
 * E4. Who works is not ended because fewer are wanted, unless its user said so.
 * E5. When all has come to rest, no executor lives whose machine was said to go.
 * E6. An executor is to be elsewhere only than on a machine that was said to go, or where three or more have ended.
 * E7. Of Spark 4.2 and later, one that Rekindle makes after another of the run lacked memory runs a single task.
 */
import type { Change } from "../../../shared/simulator/store.ts";
import type { Facts, Pod } from "./facts.ts";
import { at, numberAt, textAt } from "./fields.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

/** E1, of an executor that comes. */
export const checkId = ({ executorIds, pods }: Facts, object: Item, blame: Blame): void => {
  const { uid, name, labels = {} } = object.metadata;
  const id = `${pods.get(uid)?.driver} ${labels["spark-exec-id"]}`;
  if ((executorIds.get(id) ?? uid) !== uid) blame(`E1: ${name} has the id of an earlier executor`);
  executorIds.set(id, uid);
};

const avoided = ["affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution"] as const;

/** E6, of an executor that comes. */
export const checkPlace = ({ pods }: Facts, object: Item, blame: Blame): void => {
  const text = JSON.stringify(at(object, "spec", ...avoided) ?? []);
  const known = [...pods.values()].filter(({ role }) => role === "executor");
  for (const [, node] of text.matchAll(/"NotIn","values":\["([^"]*)"\]/g)) {
    const there = known.filter((pod) => pod.node === node);
    if (!there.some(({ leaves }) => leaves === true) && there.filter(({ live }) => !live).length < 3)
      blame(`E6: ${object.metadata.name} avoids ${node}, of which nobody said anything`);
  }
};

/** Of a record as it is saved: since when it tells of a lack of memory. */
export const memoryLack = ({ shortOfMemory: before }: Facts, record: Item, now: number): Facts["shortOfMemory"] => {
  const attempt = numberAt(record, "spec", "memory", "executors", "attempt") ?? 0;
  const lost = numberAt(record, "spec", "memory", "executors", "lost", "memory") ?? 0;
  if (lost === 0) return undefined;
  return before?.attempt === attempt ? before : { attempt, at: now };
};

/** What was decided before it was known may come so late, ms. */
const latestMs = 16_000;

/** E7, of an executor that comes. */
export const checkCores = ({ pods, shortOfMemory: since }: Facts, object: Item, now: number, blame: Blame): void => {
  const { uid, name, labels = {}, annotations = {} } = object.metadata;
  const ours = annotations["rekindle.dev/executors"] === "own" && /^4\.[2-9]/.test(labels["spark-version"] ?? "");
  if (!ours || since?.attempt !== pods.get(uid)?.attempt || now <= (since?.at ?? now) + latestMs) return;
  const cores = /"SPARK_EXECUTOR_CORES","value":"(\d+)"/.exec(JSON.stringify(object))?.[1];
  if (cores !== "1") blame(`E7: ${name} runs ${cores} tasks, although another lacked memory`);
};

/** E2, at the end. */
export const checkCount = ({ pods, phase, uid }: Facts, app: Item, blame: Blame): void => {
  const wanted = numberAt(app, "spec", "executor", "instances");
  if (phase !== "RUNNING" || wanted === undefined || at(app, "spec", "dynamicAllocation", "enabled") === true) return;
  const living = [...pods.values()].filter(({ role, live, app: of }) => role === "executor" && live && of === uid);
  if (living.length !== wanted) blame(`E2: ${living.length} executor(s) live where ${wanted} are wanted`);
};

/** A node of others is closed to further pods, and nothing else of it is touched. */
export const isClosing = ({ table, object, before }: Change): boolean => {
  const open = (one: Item | undefined): string =>
    JSON.stringify({
      ...one,
      spec: { ...Object(one?.["spec"]), unschedulable: undefined },
      metadata: one?.metadata.uid,
    });
  return table === "nodes" && at(object, "spec", "unschedulable") === true && open(object) === open(before);
};

/** E5, at the end. */
export const checkLeft = (
  objects: readonly { readonly table: string; readonly object: Item }[],
  blame: Blame,
): void => {
  for (const { table, object } of objects)
    if (
      table === "pods" &&
      object.metadata.labels?.["spark-role"] === "executor" &&
      object.metadata.annotations?.["rekindle.dev/leaving"] !== undefined &&
      textAt(object, "status", "phase") === "Running"
    )
      blame(`E5: ${object.metadata.name} lives on a machine that goes`);
};

/** E3, of a record as it is saved. */
export const checkLosses = ({ pods }: Facts, record: Item, blame: Blame): void => {
  const losses = at(record, "spec", "memory", "executors", "losses");
  const told: readonly unknown[] = Array.isArray(losses) ? losses : [];
  const ids = told.map((loss) => String(at(loss, "id")));
  if (new Set(ids).size !== ids.length) blame(`E3: a loss is recorded twice: ${ids.join(", ")}`);
  if (told.some((loss) => textAt(loss, "reason") === undefined)) blame("E3: a loss is recorded without a reason");
  for (const loss of told) {
    const [node, stood] = [textAt(loss, "node"), pods.get(textAt(loss, "uid") ?? "")?.node];
    if (node !== undefined && stood !== undefined && node !== stood)
      blame(`E3: a loss is told of ${node}, and was on ${stood}`);
  }
};

/** E4, of an executor's pod as the engine leaves it; `busyMs`: so long each works from its start on. */
export const checkAtWork = (
  pod: Pod,
  { type, object }: Change,
  { busyMs, now }: { readonly busyMs: number; readonly now: number },
  blame: Blame,
): void => {
  const ends = type === "DELETED" || object.metadata.deletionTimestamp !== undefined;
  if (pod.role !== "executor" || !pod.live || !ends || pod.began === undefined) return;
  if (now < pod.began + busyMs) blame(`E4: ${pod.name} was ended while it worked`);
};
