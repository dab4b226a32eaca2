/** The declaration of runs of the Spark operator's SparkApplication, for the care of their executors. */
import { appNameLabel } from "../../schema/pod-query.ts";
import { sparkApplications } from "../../schema/resource.ts";
import { reference } from "../../submission/additions.ts";
import type { RunKind } from "../run/context.ts";
import { executorBasis } from "../run/submit.ts";
import { evidenceOf, sortOut } from "../state/evidence.ts";

export const applicationRuns: RunKind = {
  resource: sparkApplications,
  podsOf: (name) => ({ [appNameLabel]: name }),
  sorted: ({ view, memory }, pods) => sortOut(pods, view.uid, memory.driver),
  runs: (pod) => evidenceOf(pod) === "running",
  owner: reference,
  basis: executorBasis,
  listsExecutors: true,
  isQueued: true,
};
