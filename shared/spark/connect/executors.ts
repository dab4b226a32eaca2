/** The executors of a SparkConnect's server, and those that an earlier JVM of the same pod left. Pure. */
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { isEnding, labelOf, ownedBy } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";

export type ServerExecutors = {
  readonly current: readonly Stored[];
  /** Executors of an earlier JVM, without a driver. */
  readonly left: readonly Stored[];
};

/** Spark's application id, which differs for each JVM. */
const applicationOf = (pod: Stored): string | undefined => labelOf(pod, "spark-app-selector");

const createdAt = ({ metadata }: Stored): number => instantOf(metadata.creationTimestamp) ?? 0;

/**
 * Separates the executors of earlier JVMs. A restarted container is another application, which clocks of nodes do not
 * show; but once it has an executor, older ones by the API server's clock of another application are an earlier one's.
 */
export const separated = (server: Stored | undefined, executors: readonly Stored[]): ServerExecutors => {
  const own = executors.filter((pod) => server !== undefined && ownedBy(pod, server.metadata.uid));
  const [newest] = own.toSorted((a, b) => createdAt(b) - createdAt(a));
  if (newest === undefined) return { current: executors, left: [] };
  const left = own.filter((pod) => applicationOf(pod) !== applicationOf(newest) && createdAt(pod) < createdAt(newest));
  return { current: executors.filter((pod) => !left.includes(pod)), left };
};

/** Deletes left executors at this resourceVersion only. */
export const endingsOf = ({ left }: ServerExecutors): readonly Effect[] =>
  left
    .filter((pod) => !isEnding(pod))
    .map(({ metadata: { name, namespace, uid, resourceVersion } }) => ({
      do: "delete",
      ref: { resource: pods, name, ...(namespace === undefined ? {} : { namespace }) },
      uid,
      resourceVersion,
    }));
