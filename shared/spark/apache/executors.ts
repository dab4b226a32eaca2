/**
 * The executors of an application of `spark.apache.org`, which its driver creates: those that were lost, each with its reason,
 * and the repair of what Spark's own allocator leaves, which are executors that do not start, and executors on dead nodes. The
 * reason of a deletion is saved before it.
 */
import { list, type Reads } from "../../core/decision.ts";
import { omit } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import { type Effect, soonest, type View } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, podStatus, terminationOf } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { policiesOf } from "../application/spec/policies.ts";
import { endedBefore } from "../executors/final-account.ts";
import { idsOf } from "../executors/ids.ts";
import {
  account,
  freshLedger,
  type Ledger,
  type Loss,
  lossText,
  mostReported,
  stillDoomed,
  worthReporting,
} from "../executors/ledger.ts";
import {
  effectsOfEndings,
  mostDeletions,
  nodesOf,
  type Repair,
  repairExecutors,
  terminationsOf,
} from "../executors/repair.ts";
import type { Memory, Run } from "./memory.ts";
import { type AttemptPods, sorted } from "./pods.ts";
import { apacheApplications, nameLabel } from "./resource.ts";
import type { ApacheSpec } from "./spec/schema.ts";
import { evidenceOf } from "./status/evidence.ts";
import { keepsExecutors } from "./submission.ts";

type Context = {
  readonly key: Key;
  readonly view: View<Memory>;
  readonly object: Stored;
  readonly run: Run;
  readonly settings: { readonly settledMs: number };
};

export type ExecutorCare = {
  /** The ledger after this step. */
  readonly ledger: Ledger;
  /** An Event for each loss, recorded before the save that accounts for it. */
  readonly events: readonly Effect[];
  readonly deletions: readonly Effect[];
  readonly wakeAt?: number;
  readonly pollMs?: number;
};

const ledgerOf = ({ view, run }: Context): Ledger => {
  const kept = view.memory?.executors;
  return kept?.attempt === run.attempt ? kept : freshLedger(run.attempt);
};

/** StatefulSets and Deployments of executors belong to controllers of their own. */
const isMonitored = ({ sparkConf = {} }: ApacheSpec): boolean =>
  (sparkConf["spark.kubernetes.allocation.pods.allocator"] ?? "direct") === "direct";

/** Lists again when an executor is missing from the first list, before it is called lost: that list may have been behind. */
function* everyone({ key, view, run }: Context, found: AttemptPods, ledger: Ledger): Reads<readonly Stored[]> {
  const { executors } = found;
  if (account(ledger, { pods: executors, now: view.now, certain: false }).missing.length === 0) return executors;
  const labels = { [nameLabel]: key.name, "spark-role": "executor" };
  const again = yield* list({ do: "list", resource: pods, namespace: key.namespace, labels });
  const listed = new Set(executors.map(({ metadata }) => metadata.uid));
  const late = sorted(again, view.uid, run).executors.filter(({ metadata }) => !listed.has(metadata.uid));
  return [...executors, ...late];
}

const lossEvent = ({ object, run }: Context, loss: Loss): Effect => ({
  ...({ do: "record", about: object, resource: apacheApplications, type: "Warning", reason: "ExecutorLost" } as const),
  occasion: `${run.attempt} executor ${loss.id}`,
  message: lossText(loss),
});

/** The Events of losses that are news to the user. */
const eventsOf = (context: Context, lost: readonly Loss[]): readonly Effect[] =>
  worthReporting(lost)
    .slice(-mostReported)
    .map((loss) => lossEvent(context, loss));

/** Poll intervals, ms: a node cannot be read; more is to be deleted, or a pod has not shown its reason. */
const againMs = 15_000;
const busyMs = 1_000;

const pollOf = ({ again, terminations }: Repair, unclear: number): Pick<ExecutorCare, "pollMs"> => {
  if (unclear > 0 || terminations.length === mostDeletions) return { pollMs: busyMs };
  return again ? { pollMs: againMs } : {};
};

/** Takes the executors of a running driver into the ledger, and repairs them. */
export function* careForExecutors(context: Context, spec: ApacheSpec, found: AttemptPods): Reads<ExecutorCare> {
  const { view, object, settings } = context;
  const { now } = view;
  const before = ledgerOf(context);
  if (!isMonitored(spec)) return { ledger: before, events: [], deletions: [] };
  const executors = yield* everyone(context, found, before);
  const nodes = yield* nodesOf(context, executors);
  const missing = keepsExecutors(spec) ? "deleted" : "removed";
  const { ledger, lost, unclear } = account(before, { pods: executors, now, certain: true, missing });
  const over = idsOf(ledger.over ?? "");
  const repaired = repairExecutors(
    { view, object, policies: policiesOf(object).policies },
    { executors, over, nodes, word: undefined, pulse: undefined, leave: { terminations: [], until: [] } },
    before.care,
  );
  const anew = terminationsOf(repaired.terminations, over, now);
  const still = stillDoomed(before, { anew, over, now, settledMs: settings.settledMs });
  const doomed = [...still, ...anew];
  const settled = still.map(({ at }) => at + settings.settledMs).filter((at) => at > now);
  return {
    ledger: {
      ...omit(ledger, "care"),
      ...(doomed.length === 0 ? {} : { doomed }),
      ...(repaired.stuck === undefined ? {} : { care: { stuck: repaired.stuck } }),
    },
    events: eventsOf(context, lost),
    deletions: effectsOfEndings(repaired.terminations),
    ...soonest(repaired.wakeAt, ...settled),
    ...pollOf(repaired, unclear),
  };
}

/** The end of the account, with the driver or the application: losses before it are told, all other executors end with it. */
export const closedAccount = (context: Context, { driver, executors }: AttemptPods): ExecutorCare => {
  const { view, run } = context;
  const end = driver === undefined ? undefined : terminationOf(podStatus(driver), run.main);
  const lives = driver !== undefined && !isEnding(driver) && evidenceOf(driver, run.main).is !== "ended";
  const endedAt = instantOf(end?.finishedAt) ?? view.now;
  const judged = lives ? executors : endedBefore(executors, { endedAt, isDated: end !== undefined });
  const { lost } = account(ledgerOf(context), { pods: judged, now: view.now, certain: false });
  return { ledger: freshLedger(run.attempt), events: eventsOf(context, lost), deletions: [] };
};

/** The memory with the account of a step; an empty one is no field of it. */
export const withAccount = ({ executors: _, ...memory }: Memory, care: ExecutorCare): Memory =>
  Object.keys(care.ledger).length === 1 ? memory : { ...memory, executors: care.ledger };
