/**
 * Ends of executors that the status does not show yet. The save that accounts for them keeps them: a later step could
 * not read them any more if the pods are gone. Bounded by the executors that the status names.
 */
import { same } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { idSet, textOfIds } from "../../executors/ids.ts";
import type { Ledger } from "../../executors/ledger.ts";
import { endingOf, executorId } from "../../executors/losses.ts";
import type { ApplicationContext } from "../run/context.ts";
import { trackedUpTo } from "../run/executor-retention.ts";
import { type Ends, type ExecutorState, endsIn, idIn, isFinished, shownExecutors, stateOf } from "../state/status.ts";

const textOf = (ends: Ends, state: ExecutorState): string =>
  textOfIds(idSet([...ends].filter(([, end]) => end === state).map(([id]) => id)));

const written = (ends: Ends): Pick<Ledger, "ends"> => {
  const [completed, failed] = [textOf(ends, "COMPLETED"), textOf(ends, "FAILED")];
  if (ends.size === 0) return {};
  return {
    ends: { ...(completed === "" ? {} : { COMPLETED: completed }), ...(failed === "" ? {} : { FAILED: failed }) },
  };
};

type Change = {
  readonly before: Ledger;
  readonly next: Ledger;
  readonly executors: readonly Stored[];
  /** Executors that Rekindle has ended as surplus: they have done their work, whatever their exit status. */
  readonly dismissed?: readonly number[];
};

/** The next ledger with the ends that the status does not show yet. An end that it shows is no reason to save. */
export const withEnds = (
  { object, memory, settings }: Pick<ApplicationContext, "object" | "memory" | "settings">,
  { before, next, executors, dismissed = [] }: Change,
): Ledger => {
  const shown = shownExecutors(object, memory.driver);
  const last = trackedUpTo({ settings, memory });
  const kept = endsIn(before);
  const ends = new Map(kept);
  for (const id of dismissed) if (id <= last) ends.set(id, "COMPLETED");
  for (const pod of executors.filter((each) => endingOf(each)?.reason !== undefined)) {
    const [id, state] = [executorId(pod), stateOf(pod)];
    if (id !== undefined && id <= last && isFinished(state) && !ends.has(id)) ends.set(id, state);
  }
  for (const [name, state] of Object.entries(shown)) if (isFinished(state)) ends.delete(idIn(name) ?? 0);
  const { ends: known, ...rest } = before;
  const { ends: _, ...bare } = next;
  const news = [...ends].some(([id]) => !kept.has(id));
  return known !== undefined && !news && same(rest, bare) ? before : { ...bare, ...written(ends) };
};
