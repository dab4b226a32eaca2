/**
 * The invariants of a job at rest, judged from objects alone.
 *
 * V9. Its status counts its pods, in total and by task; succeeded pods that were removed still count.
 * V10. The status shows the record's phase, version and retries; a phase occurs once among the conditions.
 * V11. An unfinished job has all its pods, and no live one of an earlier version; a finished one has no live pod, no
 *     group, and no shared objects but those of a slow step after its end.
 * V12. Nothing is left of a deleted job.
 * V15. If a pod has the mark of forwarding, so have its job and its group.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, numberAt, textAt } from "../fields.ts";
import type { Facts } from "./facts.ts";
import { isOver } from "./phases.ts";

type Item = Change["object"];
type Owned = readonly { readonly table: string; readonly object: Item }[];

export type AtRest = { readonly facts: Facts; readonly job: Item | undefined; readonly owned: Owned };

const words = ["Pending", "Running", "Succeeded", "Failed", "Unknown"] as const;

const phaseOf = (pod: Item): string => textAt(pod, "status", "phase") ?? "Pending";

const isLive = (pod: Item): boolean => !["Succeeded", "Failed"].includes(phaseOf(pod));

const annotated = (pod: Item, word: string): string => pod.metadata.annotations?.[`volcano.sh/${word}`] ?? "";

const countOf = (pods: readonly Item[], phase: string, removed: number): number =>
  pods.filter((pod) => phaseOf(pod) === phase).length + (phase === "Succeeded" ? removed : 0);

/** V9. */
const checkCounts = (pods: readonly Item[], job: Item, removed: number, blame: (what: string) => void): void => {
  for (const word of words) {
    const [shown, is] = [numberAt(job, "status", word.toLowerCase()) ?? 0, countOf(pods, word, removed)];
    if (shown !== is) blame(`V9: ${shown} pod(s) told as ${word}, ${is} are`);
    const byTask = Object.values(Object(at(job, "status", "taskStatusCount")));
    const summed = byTask.reduce<number>((sum, task) => sum + (numberAt(task, "phase", word) ?? 0), 0);
    if (summed !== is) blame(`V9: ${summed} pod(s) told by task as ${word}, ${is} are`);
  }
  const terminating = numberAt(job, "status", "terminating") ?? 0;
  if (terminating !== 0) blame(`V9: ${terminating} pod(s) told as terminating at rest`);
};

/** V10. */
const checkStatus = ({ facts: { record, phase } }: AtRest, job: Item, blame: (what: string) => void): void => {
  if (record === undefined) {
    blame("V10: a job without a record");
    return;
  }
  const shown = [phase, numberAt(job, "status", "version") ?? 0, numberAt(job, "status", "retryCount") ?? 0];
  const saved = [record.phase, record.version, record.retry];
  if (shown.join() !== saved.join()) blame(`V10: ${shown.join(", ")} told, ${saved.join(", ")} recorded`);
  const conditions = at(job, "status", "conditions");
  const entered = (Array.isArray(conditions) ? conditions : []).map((one) => textAt(one, "status"));
  if (new Set(entered).size !== entered.length) blame(`V10: conditions repeat: ${entered.join(", ")}`);
  if (entered.at(-1) !== phase) blame(`V10: the last condition is ${entered.at(-1)} in ${phase}`);
};

/** Tables whose objects may outlive the job's end: of Workloads, A3 says which. */
const stays = new Set(["pods", "persistentvolumeclaims", "checkpoints.rekindle.dev", "workloads.kueue.x-k8s.io"]);

/** V11. */
const checkLeft = ({ facts, owned }: AtRest, blame: (what: string) => void): void => {
  const { record, phase } = facts;
  const pods = owned.filter(({ table }) => table === "pods").map(({ object }) => object);
  for (const pod of pods.filter(isLive))
    if (isOver(phase) || Number(annotated(pod, "job-version")) < (record?.version ?? 0))
      blame(`V11: ${pod.metadata.name} of version ${annotated(pod, "job-version")} lives on in ${phase}`);
  const rest = owned.filter(({ table }) => !stays.has(table));
  if (isOver(phase))
    for (const { table, object } of rest.filter(({ object: { metadata } }) => !facts.late.has(metadata.uid)))
      blame(`V11: ${table}/${object.metadata.name} is left in ${phase}`);
  const wanted = [...facts.replicas.values()].reduce((sum, replicas) => sum + replicas, 0);
  if (phase === "Running" && pods.length + facts.removed !== wanted)
    blame(`V11: ${pods.length} pod(s) where ${wanted} are wanted`);
};

const forwards = (object: Item): boolean => object.metadata.annotations?.["volcano.sh/job-forwarding"] === "true";

/** V15. */
const checkForwarding = ({ owned }: AtRest, job: Item, blame: (what: string) => void): void => {
  if (!owned.some(({ table, object }) => table === "pods" && forwards(object))) return;
  if (!forwards(job)) blame("V15: its pods are forwarded, and the job does not say so");
  for (const { table, object } of owned)
    if (table.startsWith("podgroups.") && !forwards(object)) blame("V15: its pods are forwarded, and its group is not");
};

export const checkRest = (rest: AtRest, blame: (what: string) => void): void => {
  const { job, owned, facts } = rest;
  if (job === undefined) {
    for (const { table, object } of owned) blame(`V12: ${table}/${object.metadata.name} is left`);
    return;
  }
  const pods = owned.filter(({ table }) => table === "pods").map(({ object }) => object);
  checkCounts(pods, job, facts.removed, blame);
  checkStatus(rest, job, blame);
  checkLeft(rest, blame);
  checkForwarding(rest, job, blame);
};
