/**
 * Events about executors and running runs: losses with their reasons, and trouble of the run as a whole. The save that
 * accounts for the end of an executor also keeps it until the status shows it, because a later step cannot read a pod
 * that is gone.
 */

import { spanText } from "../../../core/annotation.ts";
import { same } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { isStalled, type Pulse } from "../../executors/driver-api.ts";
import { idSet, textOfIds } from "../../executors/ids.ts";
import { type Care, type Ledger, type Loss, lossText, mostReported } from "../../executors/ledger.ts";
import { endingOf, executorId, losses, lossReasons } from "../../executors/losses.ts";
import { wantedOf } from "../../executors/owner.ts";
import { isDynamic } from "../../schema/rules.ts";
import type { ApplicationContext } from "../run/context.ts";
import type { End } from "../run/plan.ts";
import type { Cause } from "../state/memory.ts";
import {
  type Ends,
  type ExecutorState,
  endsIn,
  endsShownIn,
  idIn,
  isFinished,
  shownExecutors,
  stateOf,
} from "../state/status.ts";

const textOf = (ends: Ends, state: ExecutorState): string =>
  textOfIds(idSet([...ends].filter(([, end]) => end === state).map(([id]) => id)));

const written = (ends: Ends): Pick<Ledger, "ends"> => {
  const [completed, failed] = [textOf(ends, "COMPLETED"), textOf(ends, "FAILED")];
  if (ends.size === 0) return {};
  return {
    ends: { ...(completed === "" ? {} : { COMPLETED: completed }), ...(failed === "" ? {} : { FAILED: failed }) },
  };
};

/** The ids of executors whose end the status shows. */
const endedIn = (shown: Readonly<Record<string, string>>): readonly number[] =>
  Object.entries(shown).flatMap(([name, state]) => (isFinished(state) ? (idIn(name) ?? []) : []));

type Change = {
  readonly before: Ledger;
  readonly next: Ledger;
  readonly executors: readonly Stored[];
  /** Executors that Rekindle has ended as surplus: they have done their work, whatever their exit status. */
  readonly dismissed?: readonly number[];
};

/** The next ledger with the ends that the status does not show yet. An end that it shows is no reason to save. */
export const withEnds = (
  { object, memory, kind }: Pick<ApplicationContext, "object" | "memory" | "kind">,
  { before, next, executors, dismissed = [] }: Change,
): Ledger => {
  if (!kind.listsExecutors) return next;
  const shown = shownExecutors(object, memory.driver);
  const kept = endsIn(before);
  const isShown = endsShownIn(before);
  const ends = new Map(kept);
  for (const id of dismissed) ends.set(id, "COMPLETED");
  for (const pod of executors.filter((each) => endingOf(each)?.reason !== undefined)) {
    const [id, state] = [executorId(pod), stateOf(pod)];
    if (id !== undefined && isFinished(state) && !ends.has(id) && !isShown(id)) ends.set(id, state);
  }
  for (const id of ends.size === 0 ? [] : endedIn(shown)) ends.delete(id);
  const { ends: known, ...rest } = before;
  const { ends: _, ...bare } = next;
  const news = [...ends].some(([id]) => !kept.has(id));
  return known !== undefined && !news && same(rest, bare) ? before : { ...bare, ...written(ends) };
};

const warning = (
  { object, memory, kind }: ApplicationContext,
  of: { occasion: string; reason: string; message: string },
): Effect => ({
  do: "record",
  about: object,
  resource: kind.resource,
  type: "Warning",
  ...of,
  occasion: `${memory.attempt} ${of.occasion}`,
});

/** Losses of earlier reads that may not be recorded as events: their step may have died, or met trouble. */
export const unreportedIn = ({ losses: known = [], untold = [] }: Ledger): readonly Loss[] =>
  known.filter(({ id }) => untold.includes(id));

/** One event for each loss. */
export const lossEvents = (context: ApplicationContext, lost: readonly Loss[]): readonly Effect[] =>
  lost
    .slice(-mostReported)
    .map((loss) =>
      warning(context, { occasion: `executor ${loss.id}`, reason: "ExecutorLost", message: lossText(loss) }),
    );

type Kind = NonNullable<Care["trouble"]>["is"];

export type Trouble = {
  readonly kept: NonNullable<Care["trouble"]> | undefined;
  readonly isNew: boolean;
  /** The trouble in words; undefined while it is only suspected. */
  readonly says: string | undefined;
  readonly wakeAt: number | undefined;
  readonly end: End | undefined;
};

type State = {
  readonly ledger: Ledger;
  readonly pulse: Pulse | undefined;
  readonly pods: readonly Stored[];
  readonly running: number;
  /** The driver was queried in this step. */
  readonly queried: boolean;
};

const reasonOf: Readonly<Record<Kind, { readonly reason: string; readonly cause: Cause }>> = {
  executorsGone: { reason: "ExecutorsGone", cause: "executorsGone" },
  driverSilent: { reason: "DriverSilent", cause: "driverHung" },
  driverStalled: { reason: "DriverStalled", cause: "driverHung" },
};

/** True when executors are wanted: under dynamic allocation none may be. */
const wants = ({ read }: ApplicationContext, pods: readonly Stored[]): boolean =>
  read.ok && (isDynamic(read.spec) ? pods.length > 0 : wantedOf(read.spec) > 0);

/** True when a lost executor was to be replaced: one that had not finished, and not as surplus. */
const hasLost = ({ lost = {} }: Ledger): boolean =>
  lossReasons.some((reason) => losses[reason].replaced === "yes" && (lost[reason] ?? 0) > 0);

const goneSinceOf = (context: ApplicationContext, { ledger, pods, running }: State): number | undefined =>
  running === 0 && hasLost(ledger) && wants(context, pods) ? (ledger.care?.goneSince ?? context.view.now) : undefined;

type Suspicion = { readonly is: Kind; readonly since: number; readonly due: number; readonly message: string };

const suspicionsOf = (
  context: ApplicationContext,
  { pulse, queried }: State,
  goneSince: number | undefined,
): readonly Suspicion[] => {
  const { goneMs, silenceMs, stallMs } = context.policies;
  const { silentSince, movedAt = 0 } = pulse ?? {};
  const stalled = queried && isStalled(pulse, context.view.now, stallMs);
  return [
    ...(silentSince === undefined
      ? []
      : [
          {
            ...({ is: "driverSilent", since: silentSince, due: silentSince + silenceMs } as const),
            message: `the driver's REST API answered before, and has not answered for ${spanText(silenceMs)}`,
          },
        ]),
    ...(goneSince === undefined
      ? []
      : [
          {
            ...({ is: "executorsGone", since: goneSince, due: goneSince + goneMs } as const),
            message: `no executor has been running for ${spanText(goneMs)}`,
          },
        ]),
    ...(stalled
      ? [
          {
            ...({ is: "driverStalled", since: movedAt, due: movedAt + stallMs } as const),
            message: `tasks are running, and none has ended for ${spanText(stallMs)}`,
          },
        ]
      : []),
  ];
};

const endFor = ({ policies, view }: ApplicationContext, { is, message }: Suspicion): End | undefined => {
  const act = is === "executorsGone" ? policies.onExecutorsGone : policies.onDriverHang;
  if (act === "tell") return undefined;
  return { endedAt: view.now, error: message, cause: reasonOf[is].cause, forgiven: act === "restart" };
};

/** The first certain trouble of a run as a whole, and the time when the next would be certain. */
export const troubleOf = (
  context: ApplicationContext,
  state: State,
): { readonly goneSince: number | undefined; readonly trouble: Trouble | undefined } => {
  const { now } = context.view;
  const goneSince = goneSinceOf(context, state);
  const suspicions = suspicionsOf(context, state, goneSince);
  const [certain] = suspicions.filter(({ due }) => due <= now);
  const waits = suspicions.filter(({ due }) => due > now).map(({ due }) => due);
  const wakeAt = waits.length === 0 ? undefined : Math.min(...waits);
  if (certain === undefined)
    return { goneSince, trouble: { kept: undefined, isNew: false, says: undefined, wakeAt, end: undefined } };
  const { is, since, message } = certain;
  const before = state.ledger.care?.trouble;
  const isNew = before?.is !== is || before.since !== since;
  return { goneSince, trouble: { kept: { is, since }, isNew, says: message, wakeAt, end: endFor(context, certain) } };
};

/** The event of a trouble that is new; its name holds the time since when the trouble holds. */
export const troubleEvent = (context: ApplicationContext, trouble: Trouble | undefined): readonly Effect[] => {
  if (trouble?.kept === undefined || !trouble.isNew || trouble.says === undefined) return [];
  const { is, since } = trouble.kept;
  return [warning(context, { occasion: `${is} ${since}`, reason: reasonOf[is].reason, message: trouble.says })];
};
