/**
 * The retention of ended executors' pods: pods without evidence of the application's own failures are deleted; the
 * others are kept for debugging, up to a number and for a time.
 */
import { attemptLabel, type Stored } from "../../../core/object.ts";
import { instantOf } from "../../../core/time.ts";
import { isEnding, labelOf } from "../../../kube/pods.ts";
import { claimPolicyOf } from "../../executors/claim-policy.ts";
import { hasId, idsOf } from "../../executors/ids.ts";
import { endingOf, executorId, losses } from "../../executors/losses.ts";
import { holdsClaims } from "../../executors/nodes.ts";
import { mostDeletions } from "../../executors/repair.ts";
import { isOwnRun } from "../state/memory.ts";
import { endsShownIn, shownExecutors } from "../state/status.ts";
import type { ApplicationContext } from "./context.ts";

/** The most pods kept, the latest by id: a crash loop must not fill the cluster. */
const mostKept = 10;

export type Keeping = {
  readonly now: number;
  readonly retentionMs: number;
  /** End of the driver, epoch ms; executors that ended then or later ended because of it. */
  readonly driverEndedAt?: number | undefined;
  /** Pods with claims are not kept, because their claims are handed on. */
  readonly handsOn?: boolean;
};

type Spent = {
  readonly useless: readonly Stored[];
  /** The time when the first retention is over, epoch ms. */
  readonly until: number | undefined;
};

const endedAt = (pod: Stored): number | undefined => endingOf(pod)?.at ?? instantOf(pod.metadata.creationTimestamp);

const isKept = (pod: Stored, keeping: Keeping): boolean => {
  const { now, retentionMs, driverEndedAt = Number.POSITIVE_INFINITY, handsOn = false } = keeping;
  if (handsOn && holdsClaims(pod)) return false;
  const reason = endingOf(pod)?.reason ?? "unknown";
  const at = endedAt(pod) ?? now;
  return losses[reason].keeps && at < driverEndedAt && now < at + retentionMs;
};

/** Sorts ended pods that were accounted for into useless and kept ones. Pods that are being deleted are neither. */
const spent = (pods: readonly Stored[], keeping: Keeping): Spent => {
  const ended = pods.filter((pod) => endingOf(pod) !== undefined && !isEnding(pod));
  const worth = ended.filter((pod) => isKept(pod, keeping)).sort((a, b) => (executorId(b) ?? 0) - (executorId(a) ?? 0));
  const kept = new Set(worth.slice(0, mostKept));
  const until = [...kept].map((pod) => (endedAt(pod) ?? keeping.now) + keeping.retentionMs);
  return {
    useless: ended.filter((pod) => !kept.has(pod)),
    until: until.length === 0 ? undefined : until.reduce((a, b) => Math.min(a, b)),
  };
};

const conf = "spark.kubernetes.executor.deleteOnTermination";

/** The user's choice for ended executors; undefined: the choice is Rekindle's. */
export const asksDeletion = ({ read }: Pick<ApplicationContext, "read">): "delete" | "keep" | undefined => {
  if (!read.ok) return "keep";
  const field = read.spec.executor.deleteOnTermination;
  const text = read.spec.sparkConf?.[conf]?.trim();
  const setting = text ?? (field === undefined ? undefined : String(field));
  return setting === undefined ? undefined : setting === "true" ? "delete" : "keep";
};

/** True of an executor of Rekindle's submission: another one's driver has Spark's default and deletes its executors. */
const isOurs = (pod: Stored): boolean => labelOf(pod, attemptLabel) !== undefined;

type Judging = Pick<ApplicationContext, "object" | "read" | "view" | "policies" | "memory">;

const few = ({ useless, until }: Spent): Spent => ({ useless: useless.slice(0, mostDeletions), until });

const none: Spent = { useless: [], until: undefined };

/**
 * Keeps the pod of an executor that no status has named yet, because its end is unknown once the pod is gone: its
 * deletion waits for this step's status write. `until`: when to look again, epoch ms.
 */
const namedInStatus = ({ object, memory, view }: Judging, { useless, until }: Spent): Spent => {
  const shown = shownExecutors(object, memory.driver);
  const { executors: ledger, driver } = memory;
  const isShown = endsShownIn(ledger?.attempt === driver?.attempt ? (ledger ?? {}) : {});
  const named = useless.filter((pod) => pod.metadata.name in shown || isShown(executorId(pod) ?? 0));
  return { useless: named, until: named.length < useless.length ? view.now : until };
};

/** Useless pods while the driver runs: those accounted for. An own run's allocator judges those that exited with 0. */
export const uselessNow = (context: Judging, over: string, executors: readonly Stored[]): Spent => {
  if (asksDeletion(context) !== undefined) return none;
  const ids = idsOf(over);
  const own = isOwnRun(context.memory);
  const judged = executors.filter((pod) => {
    const id = executorId(pod);
    return id !== undefined && hasId(ids, id) && isOurs(pod) && !(own && endingOf(pod)?.reason === "finished");
  });
  const handsOn = own && context.read.ok && claimPolicyOf(context.read.spec.sparkConf ?? {}) !== undefined;
  const { retentionMs } = context.policies;
  const { useless } = few(spent(judged, { now: context.view.now, retentionMs, handsOn }));
  return namedInStatus(context, { useless, until: undefined });
};

/** Useless pods of an ended run, and when further ones are to be judged. */
export const uselessAfter = (context: Judging, executors: readonly Stored[]): Spent => {
  const { state } = context.memory;
  if (asksDeletion(context) !== undefined || !("endedAt" in state)) return none;
  const { endedAt: driverEndedAt } = state;
  const { retentionMs } = context.policies;
  return namedInStatus(
    context,
    few(spent(executors.filter(isOurs), { now: context.view.now, retentionMs, driverEndedAt })),
  );
};
