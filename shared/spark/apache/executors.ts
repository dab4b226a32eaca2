/**
 * The executors of an application of `spark.apache.org`: cared for and, where Rekindle is their allocator, created as those of
 * the Spark operator's applications, by what `run.ts` declares. The reason of a deletion is saved before it.
 */
import type { Reads } from "../../core/decision.ts";
import { omit } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { type Effect, type Safety, soonest, type Wait } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, podStatus, terminationOf } from "../../kube/pods.ts";
import { type AllocationResult, creationsIn } from "../application/executors/allocation-result.ts";
import { allocateExecutors, type OwnRun, safetyOf, waiting } from "../application/executors/allocator.ts";
import { membersOfRun, withMembers } from "../application/executors/lookup.ts";
import { type ExecutorReport, monitorExecutors } from "../application/executors/monitor.ts";
import type { ApplicationContext } from "../application/run/context.ts";
import type { Pods } from "../application/state/evidence.ts";
import { type Allotment, isLiving, type Member, membersOf } from "../executors/allotment.ts";
import { endedBefore } from "../executors/final-account.ts";
import {
  account,
  freshLedger,
  type Ledger,
  type Loss,
  lossText,
  mostReported,
  worthReporting,
} from "../executors/ledger.ts";
import { regainedAllotment } from "../executors/lost-allotment.ts";
import type { Memory } from "./memory.ts";
import type { AttemptPods } from "./pods.ts";
import { apacheApplications } from "./resource.ts";
import { isOwnAttempt, podsOfRun, type RunInput, runContext } from "./run.ts";
import { builtFrom } from "./spec/run-spec.ts";
import type { ApacheSpec } from "./spec/schema.ts";
import { evidenceOf } from "./status/evidence.ts";

export type ExecutorCare = {
  /** The ledger after this step. */
  readonly ledger: Ledger;
  /** Absent where the driver creates the executors. */
  readonly allotment?: Allotment;
  /** Events of losses and troubles, recorded before the save that accounts for them. */
  readonly events: readonly Effect[];
  /** Cordons of nodes that are about to go, before any executor on them is ended. */
  readonly cordons: readonly Effect[];
  /** Creations first, then deletions. */
  readonly stages: readonly (readonly Effect[])[];
  readonly wait: Wait;
  readonly safety: Safety;
};

const ledgerOf = ({ view, run }: RunInput): Ledger => {
  const kept = view.memory?.executors;
  return kept?.attempt === run.attempt ? kept : freshLedger(run.attempt);
};

const none = { events: [], cordons: [], stages: [], wait: {}, safety: {} } as const;

/** StatefulSets and Deployments of executors belong to controllers of their own. */
const isMonitored = ({ sparkConf = {} }: ApacheSpec): boolean =>
  (sparkConf["spark.kubernetes.allocation.pods.allocator"] ?? "direct") === "direct";

/** Poll interval, ms, of a step whose list was behind, and of one that found a lost allotment. */
const busyMs = 1_000;

/** The allotment of a run whose record was lost. */
const regained = ({ view, run, settings }: RunInput, pods: AttemptPods): Allotment | undefined =>
  isOwnAttempt(view.memory, run.attempt)
    ? undefined
    : regainedAllotment(pods, {
        attempt: run.attempt,
        before: view.memory?.allotment,
        claimsFrom: view.now + settings.settledMs,
        prefix: () => run.applicationId,
      });

/** Executors of a changed spec would not fit the driver, which runs on with the old one. */
const changed = (input: RunInput, spec: ApacheSpec): readonly Effect[] => {
  const { run, object } = input;
  if (run.builtFrom === undefined || run.builtFrom === builtFrom(spec)) return [];
  const message =
    "the spec has changed since the driver was made, and executors of the new one may not fit it: none is created until the next attempt, or until the spec is as before; spark.executor.instances and the bounds of dynamic allocation may change";
  const about = { do: "record", about: object, resource: apacheApplications, type: "Warning" } as const;
  return [{ ...about, reason: "ExecutorsHeld", occasion: `${run.attempt} ${builtFrom(spec)}`, message }];
};

/** The ledger without the losses whose Events are recorded before its save. */
const told = ({ executors, ...memory }: ApplicationContext["memory"]): ApplicationContext["memory"] =>
  executors === undefined ? memory : { ...memory, executors: omit(executors, "untold") };

type Supply = {
  /** The plan of the allocator; absent where the driver creates the executors, and while the spec does not fit it. */
  readonly owned?: AllocationResult | undefined;
  /** Why Rekindle creates none. */
  readonly held: readonly Effect[];
};

/** Creates what is missing, and ends what is too much, where Rekindle is the allocator. */
function* supplied(context: ApplicationContext, run: OwnRun, input: RunInput, spec: ApacheSpec): Reads<Supply> {
  if (!isOwnAttempt(input.view.memory, input.run.attempt)) return { held: [] };
  const held = changed(input, spec);
  return held.length > 0 ? { held } : { held, owned: yield* allocateExecutors(context, run) };
}

/** All executors of an own run, also those that its list does not show; undefined where the driver creates them. */
function* membersIn(context: ApplicationContext, input: RunInput, pods: Pods): Reads<readonly Member[] | undefined> {
  const { allotment } = context.memory;
  if (allotment === undefined || !isOwnAttempt(input.view.memory, input.run.attempt)) return undefined;
  return yield* membersOfRun(context, allotment, pods);
}

const waitOf = ({ wakeAt, pollMs, waitsFor }: ExecutorReport, isBehind: boolean): Wait => ({
  ...soonest(wakeAt),
  ...(pollMs === undefined ? {} : { pollMs }),
  ...(waitsFor === undefined ? {} : { waitsFor }),
  ...(isBehind ? { pollMs: busyMs } : {}),
});

type Looked = { readonly context: ApplicationContext; readonly report: ExecutorReport; readonly isBehind: boolean };

/** The care that the report and the allocator's plan ask for. */
const careOf = ({ context, report, isBehind }: Looked, { owned, held }: Supply): ExecutorCare => {
  const { executors, allotment, attempt } = (owned ?? context).memory;
  // A pod that a list from before its end shows may be gone: the next step deletes it.
  const waits = isBehind || (owned !== undefined && creationsIn(owned) > 0);
  const wait = waitOf(report, waits && report.spent.length > 0);
  return {
    ledger: executors ?? freshLedger(attempt),
    ...(allotment?.attempt === attempt ? { allotment } : {}),
    events: [...report.left, ...report.first, ...report.events, ...held],
    cordons: report.cordons,
    stages: [...(owned?.stages ?? []), report.effects, waits ? [] : report.spent],
    wait: owned === undefined ? wait : waiting(wait, owned),
    safety: owned === undefined ? {} : safetyOf(context, owned),
  };
};

/** Takes the executors of a running driver into the ledger, repairs them, and creates those of Rekindle's own. */
export function* careForExecutors(
  input: RunInput,
  spec: ApacheSpec,
  found: AttemptPods & { readonly driver: Stored },
): Reads<ExecutorCare> {
  const before = { ledger: ledgerOf(input), ...none };
  const context = runContext(input, spec);
  const { driver } = context.memory;
  if (!isMonitored(spec) || driver === undefined) return before;
  const back = regained(input, found);
  if (back !== undefined) return { ...before, allotment: back, wait: { pollMs: busyMs } };
  const pods = podsOfRun(found);
  const members = yield* membersIn(context, input, pods);
  const report = yield* monitorExecutors(context, { driver, pod: found.driver, found: pods, members });
  const current = members === undefined ? pods : withMembers(pods, members);
  const next = { ...context, memory: told(report.memory) };
  const supply = yield* supplied(next, { driver, pod: found.driver, found: current }, input, spec);
  return careOf({ context: next, report, isBehind: current !== pods }, supply);
}

/** The Events of losses that are news to the user. */
const eventsOf = ({ object, run }: RunInput, lost: readonly Loss[]): readonly Effect[] =>
  worthReporting(lost)
    .slice(-mostReported)
    .map((loss) => ({
      ...({
        do: "record",
        about: object,
        resource: apacheApplications,
        type: "Warning",
        reason: "ExecutorLost",
      } as const),
      occasion: `${run.attempt} executor ${loss.id}`,
      message: lossText(loss),
    }));

/** The end of the account, with the driver or the application: losses before it are told, all other executors end with it. */
export const closedAccount = (input: RunInput, { driver, executors }: AttemptPods): ExecutorCare => {
  const { view, run } = input;
  const end = driver === undefined ? undefined : terminationOf(podStatus(driver), run.main);
  const lives = driver !== undefined && !isEnding(driver) && evidenceOf(driver, run.main).is !== "ended";
  const endedAt = instantOf(end?.finishedAt) ?? view.now;
  const judged = lives ? executors : endedBefore(executors, { endedAt, isDated: end !== undefined });
  const { lost } = account(ledgerOf(input), { pods: judged, now: view.now, certain: false });
  return { ...none, ledger: freshLedger(run.attempt), events: eventsOf(input, lost) };
};

/** Executors of Rekindle's own that outlive their driver, where its pod is kept: nobody else ends them. */
export const outliving = ({ view, run }: RunInput, { executors }: AttemptPods): readonly Stored[] =>
  isOwnAttempt(view.memory, run.attempt)
    ? membersOf(executors)
        .filter(isLiving)
        .map(({ pod }) => pod)
    : [];

/** The memory with the account of a step; an empty one is no field of it. */
export const withAccount = ({ executors: _, ...memory }: Memory, { ledger, allotment }: ExecutorCare): Memory => ({
  ...memory,
  ...(Object.keys(ledger).length === 1 ? {} : { executors: ledger }),
  ...(allotment === undefined ? {} : { allotment }),
});
