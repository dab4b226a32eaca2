/**
 * The invariants of a run's executors, judged from objects alone.
 *
 * E1. An executor's id belongs to one pod of its driver: no two run under one id, and none is used again.
 * E2. At rest, where the application runs, as many executors run as its spec asks for.
 * E3. A record lists each loss once, with a reason, and with no other node than that of its pod.
 * E4. A busy executor is not ended because fewer are wanted, unless its user allows it.
 * E5. At rest, no executor runs on a machine for which a notice has come.
 * E6. An executor avoids only machines for which a notice has come, or on which three or more have ended.
 * E7. With Spark 4.2 and later, an executor of Rekindle's runs a single task after another of the run lacked memory.
 * E8. Under dynamic allocation no more executors live, without those that are being deleted, than its maximum allows,
 *     and than its driver needs for its backlog timeout or a quota grants, where the scenario names that number.
 * E9. The last living executor with shuffle data is not ended while its driver runs, and an executor that leaves takes
 *     no data of another one that leaves: holders of data leave one after the other.
 * E18. An executor of Rekindle's that is created once a notice has been on a pod of its run for a while cannot be
 *      placed on that machine, until its end.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import type { Facts, Pod } from "./facts.ts";
import { at, numberAt, textAt } from "./fields.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

/** E1, for a new executor. */
export const checkId = ({ executorIds, pods }: Facts, object: Item, blame: Blame): void => {
  const { uid, name, labels = {} } = object.metadata;
  const id = `${pods.get(uid)?.driver} ${labels["spark-exec-id"]}`;
  if ((executorIds.get(id) ?? uid) !== uid) blame(`E1: ${name} has the id of an earlier executor`);
  executorIds.set(id, uid);
};

/** A decision made before a fact was known may arrive this late, ms. */
const latestMs = 16_000;

/** The notice on a pod, which was written now. */
export const noticeOn = ({ metadata: { annotations } }: Item, now: number): Pod["notice"] => {
  const until = annotations?.["rekindle.dev/leaving"];
  return until === undefined ? undefined : { at: now, until: Date.parse(until) };
};

const excludedIn = (rule: unknown): ReadonlySet<string> =>
  new Set([...JSON.stringify(rule ?? []).matchAll(/"NotIn","values":\["([^"]*)"\]/g)].map(([, node = ""]) => node));

/** E6 and E18, for a new executor. */
export const checkPlace = ({ pods }: Facts, object: Item, now: number, blame: Blame): void => {
  const { uid, name, annotations = {} } = object.metadata;
  const rules = at(object, "spec", "affinity", "nodeAffinity");
  const known = [...pods.values()].filter(({ role }) => role === "executor");
  for (const node of excludedIn(rules)) {
    const there = known.filter((pod) => pod.node === node);
    if (!there.some(({ notice }) => notice !== undefined) && there.filter(({ live }) => !live).length < 3)
      blame(`E6: ${name} avoids ${node}, of which nobody said anything`);
  }
  if (annotations["rekindle.dev/executors"] !== "own") return;
  const excluded = excludedIn(at(rules, "requiredDuringSchedulingIgnoredDuringExecution"));
  for (const { notice, node = "", driver } of known)
    if (notice !== undefined && driver === pods.get(uid)?.driver && !excluded.has(node))
      if (now > notice.at + latestMs && now < notice.until) blame(`E18: ${name} may come to ${node}, which goes`);
};

/** The instant since which a saved record lists a lack of memory. */
export const memoryLack = ({ shortOfMemory: before }: Facts, record: Item, now: number): Facts["shortOfMemory"] => {
  const attempt = numberAt(record, "spec", "memory", "executors", "attempt") ?? 0;
  const lost = numberAt(record, "spec", "memory", "executors", "lost", "memory") ?? 0;
  if (lost === 0) return undefined;
  return before?.attempt === attempt ? before : { attempt, at: now };
};

/** E7, for a new executor. */
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

/** True for a change that cordons a node of others, and changes nothing else of it. */
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

/** E3, for a saved record. */
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

/** E4, for the end of an executor's pod by the engine; `busyMs`: time for which each works from its start on. */
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

const isStaying = ({ role, live, leaving }: Pod): boolean => role === "executor" && live && leaving !== true;

/** E8, for a new executor; `granted`: the number that is granted where it is less than the maximum. */
export const checkMost = (
  { pods, most = Number.POSITIVE_INFINITY }: Facts,
  driver: string,
  granted: number | undefined,
  blame: Blame,
): void => {
  const allowed = Math.min(most, granted ?? most);
  const staying = [...pods.values()].filter((pod) => pod.driver === driver && isStaying(pod)).length;
  if (staying > allowed) blame(`E8: ${staying} executors live where ${allowed} are allowed`);
};

/** E9, for the deletion of an executor by the engine; `holders`: ids of executors that hold data from their start on. */
export const checkHolders = (
  { pods }: Facts,
  pod: Pod,
  { object }: Change,
  holders: readonly string[],
  blame: Blame,
): void => {
  const known = [...pods.values()];
  const driver = known.find(({ role, driver: of }) => role === "driver" && of === pod.driver);
  const holds = ({ name }: Pod): boolean => holders.some((id) => id === "*" || name.endsWith(`-exec-${id}`));
  const began = object.metadata.deletionTimestamp !== undefined && pod.leaving !== true;
  if (!began || !isStaying(pod) || !holds(pod) || driver?.live !== true) return;
  const others = known.filter(
    (one) => one !== pod && one.driver === pod.driver && one.role === "executor" && holds(one),
  );
  if (!others.some(isStaying)) blame(`E9: ${pod.name} was ended with the last shuffle data`);
  if (others.some(({ live, leaving }) => live && leaving === true))
    blame(`E9: ${pod.name} was ended while another with shuffle data was leaving`);
};
