/** The content of a job's record, and its allowed changes: V5 and V6 of `judge.ts`. */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, numberAt, textAt } from "../fields.ts";
import type { Saved } from "./facts.ts";
import { ends, follows } from "./phases.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

const textsAt = (value: unknown, name: string): readonly string[] => {
  const found = at(value, name);
  return Array.isArray(found) ? found.map(String) : [];
};

export const recordOf = (object: Item): Saved => {
  const memory = at(object, "spec", "memory");
  return {
    job: textAt(object, "spec", "uid") ?? "",
    phase: textAt(memory, "phase") ?? "",
    version: numberAt(memory, "version") ?? 0,
    retry: numberAt(memory, "retryCount") ?? 0,
    keeps: at(memory, "keeps") === true,
    doomed: textsAt(memory, "doomed"),
    waits: numberAt(at(memory, "backoff"), "until") ?? 0,
    taken: textsAt(memory, "commands"),
    cluster: textAt(object, "spec", "cluster") ?? "",
    ordered: at(object, "spec", "cleanup") !== undefined,
  };
};

/** The job exempts ways into Restarting from spending a retry, or Kueue may evict it. */
const spares = (job: Item | undefined): boolean =>
  job?.metadata.labels?.["kueue.x-k8s.io/queue-name"] !== undefined ||
  ["evictions", "resumes", "suspend"].some((word) => job?.metadata.annotations?.[`rekindle.dev/${word}`] !== undefined);

/** In another cluster the version is made again, as by a restart that spends no retry. */
const checkVoided = (before: Saved, after: Saved, blame: Blame): void => {
  if (after.version - before.version !== 1 || after.retry !== before.retry || after.phase !== "Pending")
    blame(`V6: in another cluster, version ${before.version} becomes ${after.phase} of version ${after.version}`);
};

/** An order ends a job at once, from any phase. */
const isByOrder = ({ ordered, phase, retry }: Saved, before: Saved): boolean =>
  ordered && phase === "Terminated" && retry === before.retry;

/** V5, V6. */
export const checkSaved = (before: Saved, after: Saved, job: Item | undefined, blame: Blame): void => {
  if (before.cluster !== after.cluster) checkVoided(before, after, blame);
  else if (!isByOrder(after, before)) checkMove(before, after, job, blame);
};

/** V5, V6, for changes without an order. */
const checkMove = (before: Saved, after: Saved, job: Item | undefined, blame: Blame): void => {
  const [versions, retries] = [after.version - before.version, after.retry - before.retry];
  const entered = after.phase === before.phase ? undefined : after.phase;
  if (!follows(before.phase, after.phase)) blame(`V5: the record goes from ${before.phase} to ${after.phase}`);
  const most = entered === "Restarting" ? 1 : 0;
  if (retries > most || retries < (spares(job) ? 0 : most))
    blame(`V6: ${retries} retries are spent on the way from ${before.phase} to ${after.phase}`);
  const all = entered !== undefined && ends(entered);
  if (versions < (all ? 1 : 0) || versions > (all ? 1 : most))
    blame(`V6: the version moves by ${versions} on the way from ${before.phase} to ${after.phase}`);
};
