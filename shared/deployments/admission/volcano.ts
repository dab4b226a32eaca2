/** Volcano's kinds at the door: what their rules rest on is looked at first, and nobody is blocked when it cannot be. */
import type { AdmissionRequest, AdmittedObject, Verdict } from "../../kube/admission.ts";
import { type Around, judgedBy, needsNamespace, needsQueues, patchedBy } from "../../volcano/admission/review.ts";

export type Surroundings = {
  /** All queues; those of the last second may be given where `fresh` is false. Throws where they cannot be asked for. */
  queues(fresh: boolean): Promise<readonly AdmittedObject[]>;
  /** Annotations of a namespace. Throws likewise. */
  annotations(namespace: string): Promise<Readonly<Record<string, string>>>;
};

/** Runs a judgement, which may be stopped when it takes too long. */
export type Judging = (work: () => Verdict) => Verdict;

const told = (verdict: Verdict, cause: unknown): Verdict => {
  if (!verdict.allowed) return verdict;
  const why = cause instanceof Error ? cause.message : String(cause);
  return { ...verdict, warnings: [...verdict.warnings, `queues could not be read: ${why}`] };
};

/** What an older look speaks against may be right by now: a queue is often made right before its jobs. */
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
    return told(own, cause);
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
    return told(patched(), cause);
  }
};
