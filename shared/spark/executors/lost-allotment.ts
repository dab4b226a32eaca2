/** The allotment of a run whose record was lost, as the run's pods show it. Pure. */
import type { Stored } from "../../core/object.ts";
import { type Allotment, lostIdsGap, membersOf, newAllotment } from "./allotment.ts";
import { isMadeHere } from "./owner.ts";

type Regaining = {
  readonly attempt: number;
  readonly before: Allotment | undefined;
  /** No claim is handed on before, epoch ms. */
  readonly claimsFrom: number;
  /** The prefix of the pods' names, where no executor shows it; undefined: none can be made. */
  readonly prefix: () => string | undefined;
};

/**
 * The allotment of a run whose record was lost: the annotation of its pods tells that Rekindle creates its executors;
 * undefined where none has it. No id is used twice.
 */
export const regainedAllotment = (
  { driver, executors }: { readonly driver: Stored | undefined; readonly executors: readonly Stored[] },
  { attempt, before, claimsFrom, prefix }: Regaining,
): Allotment | undefined => {
  if (![...(driver === undefined ? [] : [driver]), ...executors].some(isMadeHere)) return undefined;
  const members = membersOf(executors);
  const last = members.at(-1);
  const shown = last?.pod.metadata.name.replace(/-exec-\d+$/, "") ?? prefix();
  if (shown === undefined) return undefined;
  const begun = newAllotment(attempt, shown, before);
  const next = Math.max(begun.next, last?.id ?? 0) + lostIdsGap;
  // `first` counts the visible executors only: how many there were before is unknown.
  return { ...begun, first: next - members.length, next, claimsFrom };
};
