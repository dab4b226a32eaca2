/** The executors of a SparkConnect's server, and those that an earlier JVM of the same pod left behind. Pure. */
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, labelOf, ownedBy } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";

export type Told = {
  readonly current: readonly Stored[];
  /** Nobody talks to them any more. */
  readonly left: readonly Stored[];
};

/** Spark's name of the application: each JVM has another one. */
const applicationOf = (pod: Stored): string | undefined => labelOf(pod, "spark-app-selector");

const createdAt = ({ metadata }: Stored): number => instantOf(metadata.creationTimestamp) ?? 0;

/**
 * A container that is started again is another application, and cannot be told by clocks of nodes: but as soon as it has
 * an executor, all that are older by the API server's clock and of another application are an earlier one's.
 */
export const toldApart = (server: Stored | undefined, executors: readonly Stored[]): Told => {
  const own = executors.filter((pod) => server !== undefined && ownedBy(pod, server.metadata.uid));
  const [newest] = own.toSorted((a, b) => createdAt(b) - createdAt(a));
  if (newest === undefined) return { current: executors, left: [] };
  const left = own.filter((pod) => applicationOf(pod) !== applicationOf(newest) && createdAt(pod) < createdAt(newest));
  return { current: executors.filter((pod) => !left.includes(pod)), left };
};

/** By judgement, so not if anything about them has changed. */
export const endingsOf = ({ left }: Told): readonly Effect[] =>
  left
    .filter((pod) => !isEnding(pod))
    .map(({ metadata: { name, namespace, uid, resourceVersion } }) => ({
      do: "delete",
      ref: { resource: pods, name, ...(namespace === undefined ? {} : { namespace }) },
      uid,
      resourceVersion,
    }));
