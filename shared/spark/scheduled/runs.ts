/** The runs of a schedule: unfinished ones, and ended ones by their outcome. */

import * as z from "zod";
import type { Key } from "../../core/key.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { Effect, Query } from "../../core/plan.ts";
import { createdAt, judgedRemoval } from "../../kube/history.ts";
import { isEnding, ownedBy } from "../../kube/pods.ts";
import { scheduleLabel, sparkApplications } from "../schema/resource.ts";

export type Runs = {
  /** Newest first, each kind. */
  readonly unfinished: readonly Stored[];
  readonly successful: readonly Stored[];
  readonly failed: readonly Stored[];
  readonly has: (name: string) => boolean;
};

export const runsOf = (key: Key): Extract<Query, { do: "list" }> => ({
  do: "list",
  resource: sparkApplications,
  namespace: key.namespace,
  labels: { [scheduleLabel]: key.name },
});

const status = z.looseObject({ applicationState: z.looseObject({ state: z.string() }) });

/** The state of a run; "" while it shows none. */
export const stateOf = (run: Obj): string => status.safeParse(run.status).data?.applicationState.state ?? "";

const newestFirst = (a: Stored, b: Stored): number =>
  createdAt(b) - createdAt(a) || (a.metadata.name < b.metadata.name ? 1 : -1);

/** Sorts the runs that the schedule owns. A run that is being deleted counts for its name only. */
export const sortOut = (found: readonly Stored[], uid: string): Runs => {
  const own = found.filter((run) => ownedBy(run, uid)).sort(newestFirst);
  const standing = own.filter((run) => !isEnding(run));
  const ofState = (state: string): readonly Stored[] => standing.filter((run) => stateOf(run) === state);
  return {
    unfinished: standing.filter((run) => !["COMPLETED", "FAILED"].includes(stateOf(run))),
    successful: ofState("COMPLETED"),
    failed: ofState("FAILED"),
    has: (name) => own.some((run) => run.metadata.name === name),
  };
};

export const removal = (run: Stored): Effect => judgedRemoval(sparkApplications, run);
