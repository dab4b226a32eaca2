/**
 * Builds the `World` of a step from a transport to one cluster, for every process that takes steps, and measures ended
 * steps in functions, whose queue says when it took a message. A host measures its own queue.
 */
import { setTimeout } from "node:timers/promises";
import { kubernetesCheckpoints } from "../../adapters/checkpoints/kubernetes.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { makeSshKey } from "../../adapters/secrets.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import type { Meter, MetricSample, ownFigures } from "../../core/metric.ts";
import type { Operator } from "../../core/operator.ts";
import type { World } from "../../engine/context/world.ts";
import type { Checkpoints, Clock, Cluster, Journal, Queue, Report, Slices } from "../../engine/ports.ts";
import { openQuarantine, type Quarantine } from "../../engine/quarantine.ts";
import type { RecoverySettings, Timing } from "../../engine/settings.ts";
import { namespaces } from "../../kube/resources.ts";

/** The API server's address for driver pods, wherever Rekindle itself runs. As upstream inside a cluster. */
export const inCluster = "https://kubernetes.default.svc";

/** Returns the cluster's identity: the UID of its kube-system namespace. */
export const readClusterUid = async (cluster: Cluster): Promise<string> => {
  const { value } = await cluster.get({ resource: namespaces, name: "kube-system" });
  if (value === undefined)
    throw new ApiError({ status: 404, reason: "NotFound", message: "the cluster has no namespace kube-system" });
  return value.metadata.uid;
};

/**
 * Returns a clock that never goes back and counts pauses: the monotonic clock of Node stands still while a machine is
 * frozen, the wall clock does not. A wall clock that is set forward makes effects late, which is safe.
 */
export const processClock = (): Clock => {
  const wall = Date.now() - performance.now();
  let latest = 0;
  return {
    monotonic: () => {
      latest = Math.max(latest, performance.now(), Date.now() - wall);
      return latest;
    },
    pause: (ms) => setTimeout(ms),
  };
};

/** Opens the quarantine, which limits the time of each decision on this process's event loop. */
export const quarantineFor = (budgetMs: number, slices: Slices, journal?: Journal): Quarantine =>
  openQuarantine({ slices, budgetMs, journal, now: Date.now, clock: () => performance.now() });

/** Returns the lookup of operators that are all loaded. */
export const operatorsByKind = (operators: readonly Operator<unknown>[]): World["operatorOf"] => {
  const known = new Map(operators.map((operator) => [operator.kind, operator]));
  return (kind) => known.get(kind);
};

export type Parts = {
  readonly transport: Transport;
  readonly queue: Queue;
  readonly report: Report;
  readonly timing: Timing;
  readonly operatorOf: World["operatorOf"];
  /** Absent: `Checkpoint` objects beside the applications. */
  readonly checkpoints?: Checkpoints | undefined;
  /** Absent: the defaults. */
  readonly recovery?: RecoverySettings | undefined;
};

/** Opens the world. Only the cluster's identity costs a request. */
export const openWorld = async (parts: Parts): Promise<World> => {
  const cluster = openCluster(parts.transport, { timeoutMs: parts.timing.requestTimeoutMs });
  return {
    cluster,
    checkpoints:
      parts.checkpoints ?? kubernetesCheckpoints(parts.transport, { timeoutMs: parts.timing.requestTimeoutMs }),
    queue: parts.queue,
    clock: processClock(),
    chance: makeSshKey,
    report: parts.report,
    operatorOf: parts.operatorOf,
    clusterUid: await readClusterUid(cluster),
    timing: parts.timing,
    ...(parts.recovery === undefined ? {} : { recovery: parts.recovery }),
  };
};

type Name = (typeof ownFigures)[number]["name"];

/** Returns what measures ended steps; `now` in epoch ms. Each step is one call of the meter. */
export const stepFigures =
  (meter: Meter, now: () => number): NonNullable<World["ended"]> =>
  ({ message: { namespace, kind }, ending, tookMs, sentAt }) => {
    const of = { namespace, kind, ending: ending?.did ?? "failed" };
    const sample = (act: MetricSample["do"], name: Name, value: number): MetricSample => ({ do: act, name, value, of });
    // The age is that of the message when its step began.
    const age = sentAt === undefined ? [] : [Math.max(0, now() - tookMs - sentAt) / 1_000];
    meter([
      sample("count", "rekindle_steps_total", 1),
      sample("observe", "rekindle_step_duration_seconds", tookMs / 1_000),
      ...age.map((seconds) => sample("observe", "rekindle_queue_age_seconds", seconds)),
    ]);
  };
