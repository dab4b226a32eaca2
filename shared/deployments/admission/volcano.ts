/**
 * Admission of Volcano's kinds: objects that their rules need are read first. A failed read refuses nothing and adds a
 * warning.
 */
import type { AdmissionRequest, AdmittedObject, Verdict } from "../../kube/admission.ts";
import { type Around, judgedBy, needsNamespace, needsQueues, patchedBy } from "../../volcano/admission/review.ts";

export type Surroundings = {
  /**
   * Lists all queues; a listing of the last second may be reused where `fresh` is false. Throws where they cannot be
   * read.
   */
  queues(fresh: boolean): Promise<readonly AdmittedObject[]>;
  /** Reads the annotations of a namespace. Throws where they cannot be read. */
  annotations(namespace: string): Promise<Readonly<Record<string, string>>>;
};

/** Runs a judgement, which is stopped when it takes too long. */
export type Judging = (work: () => Verdict) => Verdict;

const withoutQueue = (verdict: Verdict, cause: unknown): Verdict => {
  if (!verdict.allowed) return verdict;
  const why = cause instanceof Error ? cause.message : String(cause);
  return { ...verdict, warnings: [...verdict.warnings, `queues could not be read: ${why}`] };
};

/**
 * Judges a request, with the queues if its rules need them. A Queue, and a request that a reused listing refuses, is
 * judged on a fresh listing: a queue is often created right before its jobs.
 */
export const volcanoJudged = async (
  request: AdmissionRequest,
  judging: Judging,
  around?: Surroundings,
): Promise<Verdict> => {
  const judged = (seen?: Around): Verdict => judging(() => judgedBy(request, seen));
  const own = judged();
  if (around === undefined || !needsQueues(request)) return own;
  if (!own.allowed && request.kind.kind !== "Job") return own;
  try {
    const verdict = judged({ queues: await around.queues(false) });
    return verdict.allowed && request.kind.kind !== "Queue" ? verdict : judged({ queues: await around.queues(true) });
  } catch (cause) {
    return withoutQueue(own, cause);
  }
};

export const volcanoPatched = async (
  request: AdmissionRequest,
  judging: Judging,
  around?: Surroundings,
): Promise<Verdict> => {
  const patched = (seen?: Around): Verdict => judging(() => patchedBy(request, seen));
  if (around === undefined || !needsNamespace(request)) return patched();
  try {
    return patched({ annotations: await around.annotations(request.namespace ?? "default") });
  } catch (cause) {
    return withoutQueue(patched(), cause);
  }
};
