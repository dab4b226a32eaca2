/**
 * Surplus executors of a run: those that the demand no longer needs, and those that Kueue no longer admits. Selects them,
 * and remembers why they leave before they are deleted.
 */
import type { Reads } from "../../../core/decision.ts";
import type { Effect } from "../../../core/plan.ts";
import { judgedRemoval } from "../../../kube/history.ts";
import { pods } from "../../../kube/resources.ts";
import { type Data, isMigrating, type ShrinkResult, shrink } from "../../executors/allocation.ts";
import { isLiving, type Member } from "../../executors/allotment.ts";
import { membersOn, overfullIn } from "../../executors/flavors.ts";
import { grantOn } from "../../executors/grants.ts";
import { idsOf } from "../../executors/ids.ts";
import { freshLedger } from "../../executors/ledger.ts";
import { terminationsOf } from "../../executors/repair.ts";
import type { Memory } from "../state/memory.ts";
import type { Situation } from "./allocation-result.ts";
import { type DriverAnswer, grantsIn, unchangedSince } from "./lookup.ts";

/** Deletes an executor as it was seen; `graceMs`: the time for moving its data, instead of its pod's own grace. */
export const byJudgement =
  (graceMs: number | undefined) =>
  ({ pod }: Member): Effect => {
    const grace = graceMs === undefined ? {} : { graceSeconds: Math.ceil(graceMs / 1_000) };
    return { ...judgedRemoval(pods, pod), ...grace };
  };

/** Remembers the reason of the deletions before they happen. */
export const dismissing = (
  { context: { memory, view }, driver: { attempt } }: Situation,
  leaving: readonly Member[],
): Memory => {
  if (leaving.length === 0) return memory;
  const ledger = memory.executors?.attempt === attempt ? memory.executors : freshLedger(attempt);
  const why = "fewer executors are wanted";
  const terminations = leaving.map(({ pod }) => ({ pod, reason: "dismissed", why, forced: false }) as const);
  const anew = new Set(leaving.map(({ id }) => id));
  const others = (ledger.doomed ?? []).filter(({ id }) => !anew.has(id));
  const doomed = [...others, ...terminationsOf(terminations, idsOf(ledger.over ?? ""), view.now)];
  return { ...memory, executors: { ...ledger, doomed } };
};

/** The data that executors hold; undefined where the user sets their number. */
const dataOf = ({ scale, gauge }: Situation, { registered }: DriverAnswer, moves: boolean): Data | undefined =>
  scale === undefined || registered === undefined
    ? undefined
    : { holders: registered.holders, moves, needed: registered.runningTasks > 0 || gauge !== 0 };

/** True when executors of the run move their data before they end. */
export const moving = ({ context: { read } }: Situation): boolean => read.ok && isMigrating(read.spec, true);

/** The flavors on which more executors live than Kueue has admitted. */
const overfullHere = ({ context, members }: Situation): string | undefined => {
  const grants = grantsIn(context);
  return grants === undefined ? undefined : overfullIn(grants, members);
};

/** True when executors are to end: more live than are expected, or than Kueue has admitted on some nodes. */
export const hasSurplus = (situation: Situation): boolean =>
  situation.members.filter(isLiving).length > situation.expected || overfullHere(situation) !== undefined;

/** Selects the surplus executors to delete. While two lists disagree about an executor that lives, none is selected. */
export function* surplusOf(situation: Situation, heard: DriverAnswer): Reads<ShrinkResult> {
  const { context, members, expected } = situation;
  const force = context.policies.executorScaleDown === "force";
  const { busy } = heard.registered ?? {};
  const data = dataOf(situation, heard, moving(situation));
  const grants = grantsIn(context) ?? {};
  const flavors = overfullHere(situation);
  // Executors that Kueue no longer admits must end, whatever they do.
  const surplus =
    flavors === undefined
      ? shrink({ expected, members, busy, force, data })
      : shrink({
          ...{ expected: grantOn(grants, flavors), members: membersOn(flavors, members) },
          ...{ busy: busy ?? new Set(), force: true, data },
        });
  if (surplus.leaving.length === 0) return surplus;
  const living = members.filter(isLiving).map(({ pod }) => pod);
  const unchanged = yield* unchangedSince(context, living);
  return unchanged.length === living.length ? surplus : { leaving: [], kept: surplus.leaving.length + surplus.kept };
}
