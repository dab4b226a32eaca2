/** What is told of executors and of a run that goes on and on: losses with their reasons, and what is wrong as a whole. */
import { spanText } from "../../../core/annotation.ts";
import type { Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { isStalled, type Pulse } from "../../executors/driver-liveness.ts";
import type { Care, Ledger, Loss } from "../../executors/ledger.ts";
import { exitWords, losses, lossReasons } from "../../executors/losses.ts";
import { wantedOf } from "../../executors/owner.ts";
import type { ApplicationContext } from "../context.ts";
import type { End } from "../driver/failure.ts";
import type { Cause } from "../memory.ts";
import { sparkApplications } from "../resource.ts";

/** So many losses of one step are told one by one: as many as are remembered whole. */
export const mostTold = 20;

const warning = (
  { object, memory }: ApplicationContext,
  of: { occasion: string; reason: string; message: string },
): Effect => ({
  do: "record",
  about: object,
  resource: sparkApplications,
  type: "Warning",
  ...of,
  occasion: `${memory.attempt} ${of.occasion}`,
});

/** In one line: which, where, and why as far as it was to be seen. */
export const lossText = ({ id, pod, reason, node, exitCode, why }: Loss): string => {
  const words = exitCode === undefined ? undefined : exitWords(exitCode);
  const code = exitCode === undefined ? [] : [`exit ${exitCode}${words === undefined ? "" : `, ${words}`}`];
  const detail = [...code, ...(why === undefined ? [] : [why])].join("; ");
  const place = [...(pod === undefined ? [] : [`pod ${pod}`]), ...(node === undefined ? [] : [`node ${node}`])];
  const where = place.length === 0 ? "" : ` (${place.join(", ")})`;
  return `Executor ${id}${where} was lost: ${reason}${detail === "" ? "" : ` (${detail})`}`;
};

export const worthTelling = (lost: readonly Loss[]): readonly Loss[] =>
  lost.filter(({ reason }) => losses[reason].told);

/** Losses of earlier looks that may not have been told: whoever was to tell them may have died, or met trouble. */
export const untoldIn = ({ losses: known = [], untold = [] }: Ledger): readonly Loss[] =>
  known.filter(({ id }) => untold.includes(id));

/** One event each. */
export const lossEvents = (scene: ApplicationContext, lost: readonly Loss[]): readonly Effect[] =>
  lost
    .slice(-mostTold)
    .map((loss) =>
      warning(scene, { occasion: `executor ${loss.id}`, reason: "ExecutorLost", message: lossText(loss) }),
    );

type Kind = NonNullable<Care["trouble"]>["is"];

export type Trouble = {
  readonly kept: NonNullable<Care["trouble"]> | undefined;
  readonly isNew: boolean;
  /** What is wrong, in words; undefined while it is only suspected. */
  readonly says: string | undefined;
  readonly wakeAt: number | undefined;
  readonly end: End | undefined;
};

type State = {
  readonly ledger: Ledger;
  readonly pulse: Pulse | undefined;
  readonly pods: readonly Stored[];
  readonly running: number;
  /** The driver was asked in this step. */
  readonly asked: boolean;
};

const reasonOf: Readonly<Record<Kind, { readonly reason: string; readonly cause: Cause }>> = {
  executorsGone: { reason: "ExecutorsGone", cause: "executorsGone" },
  driverSilent: { reason: "DriverSilent", cause: "driverHung" },
  driverStalled: { reason: "DriverStalled", cause: "driverHung" },
};

/** Whether executors are wanted at all: with dynamic allocation none may be just as well. */
const wants = ({ read }: ApplicationContext, pods: readonly Stored[]): boolean =>
  read.ok && (read.spec.dynamicAllocation?.enabled === true ? pods.length > 0 : wantedOf(read.spec) > 0);

/** Executors that were lost otherwise than by being done. */
const hasLost = ({ lost = {} }: Ledger): boolean =>
  lossReasons.some((reason) => losses[reason].replaced === "yes" && (lost[reason] ?? 0) > 0);

const goneSinceOf = (scene: ApplicationContext, { ledger, pods, running }: State): number | undefined =>
  running === 0 && hasLost(ledger) && wants(scene, pods) ? (ledger.care?.goneSince ?? scene.view.now) : undefined;

type Suspicion = { readonly is: Kind; readonly since: number; readonly due: number; readonly message: string };

const suspicionsOf = (
  scene: ApplicationContext,
  { pulse, asked }: State,
  goneSince: number | undefined,
): readonly Suspicion[] => {
  const { goneMs, silenceMs, stallMs } = scene.policies;
  const { silentSince, movedAt = 0 } = pulse ?? {};
  const stalled = asked && isStalled(pulse, scene.view.now, stallMs);
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

/** What is wrong with a run as a whole: the first that is certain, and when the next would be. */
export const troubleOf = (
  scene: ApplicationContext,
  state: State,
): { readonly goneSince: number | undefined; readonly trouble: Trouble | undefined } => {
  const { now } = scene.view;
  const goneSince = goneSinceOf(scene, state);
  const suspicions = suspicionsOf(scene, state, goneSince);
  const [certain] = suspicions.filter(({ due }) => due <= now);
  const waits = suspicions.filter(({ due }) => due > now).map(({ due }) => due);
  const wakeAt = waits.length === 0 ? undefined : Math.min(...waits);
  if (certain === undefined)
    return { goneSince, trouble: { kept: undefined, isNew: false, says: undefined, wakeAt, end: undefined } };
  const { is, since, message } = certain;
  const before = state.ledger.care?.trouble;
  const isNew = before?.is !== is || before.since !== since;
  return { goneSince, trouble: { kept: { is, since }, isNew, says: message, wakeAt, end: endFor(scene, certain) } };
};

/** Told when it is new, under the time since when it holds. */
export const troubleEvent = (scene: ApplicationContext, trouble: Trouble | undefined): readonly Effect[] => {
  if (trouble?.kept === undefined || !trouble.isNew || trouble.says === undefined) return [];
  const { is, since } = trouble.kept;
  return [warning(scene, { occasion: `${is} ${since}`, reason: reasonOf[is].reason, message: trouble.says })];
};
