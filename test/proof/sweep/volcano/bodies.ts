/**
 * The invariants of a job's pods, judged from objects alone.
 *
 * V1. One pod per job, version, retry, task and ordinal, unless another client than a step took the first, or none is
 *     wanted any longer (the version is past, the job is over, or its work is done): a slow step may then still create
 *     one within fence and timeout, and it is a stray.
 * V2. No pod comes before its version was saved, before its group was admitted, or before its task's predecessors. The version is
 *     saved in the record; while the job has none, in a status that counts the pod already.
 * V3. No step ends a pod of the newest version, within its task's size, that is not doomed.
 * V4. Finished pods are kept where the record says so.
 * V13. A stray comes at most 16 s after the end of its use, and is ended within 3 s.
 * V14. Where a restart waits, no pod of its version comes before the end of the wait.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, numberAt, ownersOf, textAt } from "../fields.ts";
import type { Actor } from "../oracle.ts";
import type { Body, Facts } from "./facts.ts";
import { keepsPods } from "./phases.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

const told = (pod: Item, word: string): string => pod.metadata.annotations?.[`volcano.sh/${word}`] ?? "";

const longestStrayMs = 3_000;
/** Fence, request timeout, and a second for clocks that are cut to seconds. */
export const longestArrivalMs = 16_000;

const bodyOf = (pod: Item, job: string): Omit<Body, "strayAt"> => ({
  name: pod.metadata.name,
  job,
  task: told(pod, "task-spec"),
  index: Number(told(pod, "task-index")),
  version: Number(told(pod, "job-version")),
  retry: Number(told(pod, "job-retry-count")),
  live: true,
  phase: "Pending",
  ending: false,
});

const idOf = ({ job, version, retry, task, index }: Omit<Body, "strayAt">): string =>
  `${job} ${version} ${retry} ${task} ${index}`;

const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

const tasksIn = (job: Item | undefined): readonly unknown[] => listAt(job, "spec", "tasks");

const readyKey = (job: string, version: number, task: string): string => `${job} ${version} ${task}`;

/** V2, for predecessors of a task: once ready, they count as ready. */
const followsOthers = (facts: Facts, job: Item | undefined, body: Omit<Body, "strayAt">): boolean => {
  const task = tasksIn(job).find((one) => textAt(one, "name") === body.task);
  const names = listAt(task, "dependsOn", "name").map(String);
  const isReady = (name: string): boolean => facts.ready.has(readyKey(body.job, body.version, name));
  return textAt(task, "dependsOn", "iteration") === "any" && names.length > 1
    ? names.some(isReady)
    : names.every(isReady);
};

/** The instant since which a pod is not wanted; undefined while it is wanted. */
const pastSince = (facts: Facts, body: Omit<Body, "strayAt">): number | undefined => {
  const { record, movedAt, overAt, gone, uid, earlier, done } = facts;
  if (gone) return earlier.get(uid ?? "");
  return (record !== undefined && body.version < record.version ? movedAt : overAt) ?? done.get(idOf(body));
};

/** V14. */
const isEarly = ({ record }: Facts, pod: Item, { version }: Pick<Body, "version">): boolean =>
  record?.phase === "Restarting" &&
  version >= record.version &&
  Date.parse(`${at(pod, "metadata", "creationTimestamp")}`) < record.waits;

/** True if the status of a job without a record counts more pods of the task than exist beside this one. */
const isCounted = (facts: Facts, job: Item | undefined, { version, task }: Pick<Body, "version" | "task">): boolean => {
  const counts = Object.values(Object(at(job, "status", "taskStatusCount", task, "phase")));
  const counted = counts.reduce<number>((sum, count) => sum + Number(count), 0);
  const beside = [...facts.pods.values()].filter((one) => one.job === facts.uid && one.task === task).length;
  return job?.metadata.uid === facts.uid && version <= (numberAt(job, "status", "version") ?? 0) && counted > beside;
};

const checkBirth = (facts: Facts, pod: Item, { job, blame, now }: Hearing): void => {
  const body = bodyOf(pod, facts.uid ?? "");
  const { record } = facts;
  const isKnown = record?.job === body.job ? body.version <= record.version : isCounted(facts, job, body);
  if (!isKnown && !facts.gone) blame(`V2: ${body.name} is of version ${body.version}, which is saved nowhere`);
  const name = pod.metadata.annotations?.["scheduling.k8s.io/group-name"];
  const group = [...facts.groups.values()].find((one) => one.name === name);
  const pastAt = pastSince(facts, body);
  const isOld = pastAt !== undefined;
  if (!isOld && ["", "Pending"].includes(group?.phase ?? ""))
    blame(`V2: ${body.name} comes before its group is let in`);
  if (isEarly(facts, pod, body)) blame(`V14: ${body.name} comes before the wait of its restart is over`);
  if (!followsOthers(facts, job, body)) blame(`V2: ${body.name} comes before what its task depends on`);
  const id = idOf(body);
  if (facts.born.has(id) && !facts.freed.has(id) && !isOld) blame(`V1: a second body of ${body.name} (${id})`);
  if (isOld && now - pastAt > longestArrivalMs)
    blame(`V13: ${body.name} comes ${now - pastAt} ms after it was wanted no more`);
  facts.freed.delete(id);
  facts.born.add(id);
  facts.pods.set(pod.metadata.uid, { ...body, strayAt: isOld ? now : undefined });
};

/** V13. */
export const checkStrays = ({ pods }: Facts, now: number, blame: Blame): void => {
  for (const { name, live, ending, strayAt } of pods.values())
    if (live && !ending && strayAt !== undefined && now - strayAt > longestStrayMs)
      blame(`V13: ${name}, which is wanted no more, is let run`);
};

const isExcess = ({ replicas }: Facts, { task, index }: Body): boolean => index >= (replicas.get(task) ?? 0);

/** V3, V4: the reason for which a step may end this pod; undefined: it may not. */
const reasonFor = (facts: Facts, uid: string, body: Body): string | undefined => {
  const { record } = facts;
  if (facts.gone || record === undefined || body.job !== facts.uid) return "its job is gone";
  if (record.ordered) return "ordered";
  if (record.doomed.includes(uid)) return "doomed";
  if (isExcess(facts, body)) return "too many";
  if (body.strayAt !== undefined && facts.done.has(idOf(body))) return "done before";
  if (!body.live) return body.version < record.version && !record.keeps ? "of an earlier version" : undefined;
  if (body.version < record.version) return "of an earlier version";
  return keepsPods(record.phase) ? undefined : "nothing goes on";
};

/** True if the Eviction API has ended the pod: `eviction-judge.ts` judges whether it might. */
const isEvicted = (pod: Item): boolean => JSON.stringify(pod["status"] ?? {}).includes('"EvictionByEvictionAPI"');

const checkEnd = (facts: Facts, pod: Item, body: Body, blame: Blame): void => {
  if (isEvicted(pod)) {
    facts.freed.add(idOf(body));
    return;
  }
  const reason = reasonFor(facts, pod.metadata.uid, body);
  if (reason === undefined) blame(`V3: ${body.name} of version ${body.version} is ended by a step without a reason`);
  const again = reason === "doomed" && facts.record?.retry === body.retry;
  if (reason === "too many" || again) facts.freed.add(idOf(body));
};

/** Hears the request to end a pod, or its removal. */
const hearEnd = (facts: Facts, { object }: Change, { actor, blame, now }: Hearing, body: Body): void => {
  if (body.ending) return;
  body.ending = true;
  if (actor === "engine") checkEnd(facts, object, body, blame);
  else facts.freed.add(idOf(body));
  if (actor !== "user" || body.phase !== "Succeeded") return;
  facts.removed += 1;
  facts.done.set(idOf(body), now);
};

export type Hearing = {
  readonly actor: Actor;
  readonly blame: Blame;
  readonly job: Item | undefined;
  /** Virtual time, epoch ms. */
  readonly now: number;
};

export const hearPod = (facts: Facts, change: Change, hearing: Hearing): void => {
  const { type, object } = change;
  const { actor, job } = hearing;
  const known = facts.pods.get(object.metadata.uid);
  const isOurs = facts.uid !== undefined && ownersOf(object).includes(facts.uid);
  if (known === undefined) {
    if (type === "ADDED" && actor === "engine" && isOurs) checkBirth(facts, object, hearing);
    return;
  }
  if (type === "DELETED" || object.metadata.deletionTimestamp !== undefined) hearEnd(facts, change, hearing, known);
  known.phase = textAt(object, "status", "phase") ?? "Pending";
  known.live = type !== "DELETED" && !["Succeeded", "Failed"].includes(known.phase);
  if (type === "DELETED") facts.pods.delete(object.metadata.uid);
  noteReady(facts, job, known);
};

/** A task is ready when enough of its pods run or have finished. */
const noteReady = ({ pods, ready }: Facts, job: Item | undefined, { job: uid, version, task }: Body): void => {
  const one = tasksIn(job).find((each) => textAt(each, "name") === task);
  const least = numberAt(one, "minAvailable") ?? numberAt(one, "replicas") ?? 0;
  const there = [...pods.values()].filter(
    (body) =>
      body.job === uid &&
      body.task === task &&
      body.version === version &&
      ["Running", "Succeeded"].includes(body.phase),
  );
  if (there.length >= least) ready.add(readyKey(uid, version, task));
};

/** The replicas of the job's spec, by task. */
export const replicasIn = (job: Item): Facts["replicas"] =>
  new Map(tasksIn(job).map((task) => [textAt(task, "name") ?? "", numberAt(task, "replicas") ?? 0]));
