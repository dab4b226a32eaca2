/** Keeps the end of a driver's log before its pod is deleted, where the deployment asks for it. */
import type { LogKeeping } from "../../../core/kept-log.ts";
import { attemptLabel, type Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { labelOf, ownedBy } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import type { Options } from "../../auxiliary-objects/options.ts";
import { driverContainer } from "../state/evidence.ts";

/** Returns how the log of a pod is kept; undefined of a pod that is no driver of Rekindle's, or where none are kept. */
export const logOf = (
  { keepLogsMs }: Pick<Options, "keepLogsMs">,
  pod: Stored,
  of: Pick<LogKeeping, "outlives"> = {},
): LogKeeping | undefined => {
  const attempt = Number(labelOf(pod, attemptLabel));
  if (keepLogsMs === 0 || labelOf(pod, "spark-role") !== "driver" || !Number.isSafeInteger(attempt)) return undefined;
  return { container: driverContainer, attempt, keepMs: keepLogsMs, ...of };
};

const keeping = (options: Options, pod: Stored, of?: Pick<LogKeeping, "outlives">): readonly Effect[] => {
  const { name, namespace = "", uid } = pod.metadata;
  const log = logOf(options, pod, of);
  return log === undefined ? [] : [{ do: "keepLog", ref: { resource: pods, namespace, name }, uid, log }];
};

type Found = { readonly options: Options; readonly pods: readonly Stored[] };

/** A pod that is deleted by force is on a node that does not answer, and so is its log. */
const deletes = (stage: readonly Effect[], { metadata: { uid } }: Stored): boolean =>
  stage.some((effect) => effect.do === "delete" && effect.uid === uid && effect.graceSeconds !== 0);

/** Puts a stage that keeps the logs of drivers before each stage that deletes their pods. */
export const withLogs = (
  { options, pods: found }: Found,
  stages: readonly (readonly Effect[])[],
): readonly (readonly Effect[])[] =>
  options.keepLogsMs === 0
    ? stages
    : stages.flatMap((stage) => {
        const logs = found.filter((pod) => deletes(stage, pod)).flatMap((pod) => keeping(options, pod));
        return logs.length === 0 ? [stage] : [logs, stage];
      });

/** Keeps the logs of an application whose time to live is over: its pods are deleted with it. */
export const lastLogs = ({ options, pods: found }: Found, uid: string): readonly Effect[] =>
  found.filter((pod) => ownedBy(pod, uid)).flatMap((pod) => keeping(options, pod, { outlives: true }));
