/** The allocator of an application's executors: the driver's own, or Rekindle; and when Rekindle cannot be it. */

import { type Obj, subdomain } from "../../core/object.ts";
import { isOwnQueue, localQueueOf, ownQueueKey, queueLabel } from "../../kube/kueue.ts";
import { type Conf, flagOf, listOf } from "../configuration/conf.ts";
import { standIn } from "../configuration/versions.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { ownerAnnotation } from "../schema/pod-query.ts";
import { growthCause, withDefaults } from "../schema/rules.ts";
import { volcanoStep } from "../submission/steps/driver.ts";
import { batchConf, batchIn, mostInBatch } from "./allocation.ts";
import { type Demand, scaleOf, targetOf } from "./demand.ts";

/** Annotation on pods of a run whose executors Rekindle creates: it tells of that when the record is lost. */
export const madeHere = { [ownerAnnotation]: "own" } as const;

/** True of a pod of such a run. */
export const isMadeHere = ({ metadata: { annotations = {} } }: Obj): boolean =>
  annotations[ownerAnnotation] === madeHere[ownerAnnotation];

export const owners = ["assist", "own"] as const;

/** True when Rekindle is to be the allocator of the next run. */
export const isOwn = (annotations: Readonly<Record<string, string>>): boolean =>
  annotations[ownerAnnotation]?.trim() === "own";

const instancesConf = "spark.executor.instances";

/** The number of executors that an application asks for: the field, then the conf, as Spark would read them. */
export const wantedOf = (spec: SparkApplicationSpec): number => {
  const { instances } = withDefaults(spec).executor;
  const text = spec.sparkConf?.[instancesConf]?.trim() ?? "";
  const given = instances ?? (/^\d{1,9}$/.test(text) ? Number(text) : 0);
  return Math.max(0, given);
};

/** The number of executors that a run wants, whoever creates them: at its start, or by its driver's demand. */
export const executorsWanted = (spec: SparkApplicationSpec, demand?: Demand): number => {
  const scale = scaleOf(spec);
  return scale === undefined ? wantedOf(spec) : targetOf(scale, demand);
};

type VersionedConf = { readonly conf: Conf; readonly sparkVersion: string };

type Obstacle = {
  /** The obstacle, in the user's words. */
  readonly what: string;
  /** Why Rekindle cannot be the allocator then. */
  readonly why: string;
  readonly stands: (given: VersionedConf) => boolean;
};

const flag =
  (key: string) =>
  ({ conf }: VersionedConf): boolean =>
    flagOf(conf, key);

const featureSteps = "spark.kubernetes.executor.pod.featureSteps";

/** Every reason why Rekindle cannot be the allocator: reported with its remedy, and nothing is submitted. */
export const obstacles: readonly Obstacle[] = [
  {
    what: "spark.streaming.dynamicAllocation.enabled",
    why: "the driver decides by its batches how many executors it needs, and shows no gauge of it",
    stands: flag("spark.streaming.dynamicAllocation.enabled"),
  },
  {
    what: "a Spark version whose rules are not known here",
    why: "executors of versions that were not tried may not fit their driver",
    stands: ({ sparkVersion }) => standIn(sparkVersion) !== undefined,
  },
  {
    what: "spark.authenticate without spark.authenticate.secret.file",
    why: "the driver makes the secret itself, and only the driver can hand it to executors",
    stands: (given) => flag("spark.authenticate")(given) && !given.conf.has("spark.authenticate.secret.file"),
  },
  {
    what: "spark.kubernetes.allocation.pods.allocator other than direct",
    why: "another allocator than Rekindle is named",
    stands: ({ conf }) => (conf.get("spark.kubernetes.allocation.pods.allocator") ?? "direct") !== "direct",
  },
  {
    what: "spark.ui.enabled=false",
    why: "the driver's REST API tells when it listens, and whether it continues",
    stands: ({ conf }) => conf.has("spark.ui.enabled") && !flagOf(conf, "spark.ui.enabled"),
  },
  {
    what: "spark.ui.port=0",
    why: "the driver's REST API is called at a port that is known in advance",
    stands: ({ conf }) => conf.get("spark.ui.port")?.trim() === "0",
  },
  {
    what: "executors that are deleted when they end (deleteOnTermination)",
    why: "the driver would take away what tells how an executor ended",
    stands: flag("spark.kubernetes.executor.deleteOnTermination"),
  },
  {
    what: `${featureSteps} of the user's own`,
    why: "no JVM runs here to load their classes",
    stands: ({ conf }) => listOf(conf.get(featureSteps)).some((name) => name !== volcanoStep),
  },
];

/** Confs of Spark's own allocator that Rekindle reads otherwise, one text each; none causes a refusal. */
export const readOtherwise = ({ sparkConf = {} }: SparkApplicationSpec): readonly string[] => {
  const given = batchIn(sparkConf) ?? 0;
  return given <= mostInBatch
    ? []
    : [`${batchConf}: ${given} executors are more than Rekindle creates in one batch: it creates ${mostInBatch}`];
};

/** The obstacles to `rekindle.dev/executors: own`, one text each. */
export const obstaclesIn = (given: VersionedConf): readonly string[] =>
  obstacles
    .filter(({ stands }) => stands(given))
    .map(
      ({ what, why }) =>
        `metadata.annotations[${ownerAnnotation}]: own cannot be combined with ${what}: ${why}; change that, or remove the annotation`,
    );

type Texts = Readonly<Record<string, string>>;

/** The longest name of a LocalQueue. */
const longestQueue = 253;

/** An application, or one about to be. */
type Queued = { readonly labels?: Texts; readonly annotations?: Texts; readonly spec: SparkApplicationSpec };

/**
 * Errors of an application in a queue of Kueue: a name that no LocalQueue can have, and executors that Kueue has not admitted.
 * Kueue admits as many as `spec.executor.instances` says, and reads neither confs nor the driver's demand.
 */
export const queueErrors = ({ labels = {}, annotations = {}, spec }: Queued): readonly string[] => {
  const metadata = { labels, annotations };
  const queue = localQueueOf({ metadata });
  if (queue === undefined) return [];
  const path = isOwnQueue({ metadata }) ? `annotations[${ownQueueKey}]` : `labels[${queueLabel}]`;
  if (!subdomain.test(queue) || queue.length > longestQueue)
    return [
      `metadata.${path}: ${JSON.stringify(queue)} is not the name of a LocalQueue, which has at most ${longestQueue} lower case letters, digits, "-" and "."`,
    ];
  const admits = `metadata.${path}: Kueue admits as many executors as spec.executor.instances says`;
  const cause = growthCause(spec);
  if (cause !== undefined)
    return isOwn(annotations)
      ? []
      : [
          `${admits}, and with ${cause} the driver would create more: remove ${cause} and set spec.executor.instances, or set the annotation ${ownerAnnotation}: own, with which Rekindle creates no more than Kueue has admitted`,
        ];
  return !isOwnQueue({ metadata }) &&
    spec.executor.instances === undefined &&
    spec.sparkConf?.[instancesConf] !== undefined
    ? [`${admits}, and ${instancesConf} in spec.sparkConf is not read: write the number in spec.executor.instances`]
    : [];
};

/** A number of executors in a LocalQueue. */
export type Admitted = { readonly queue: string; readonly executors: number };

/** The executors that Kueue has admitted of an application with its queue label; undefined without the label. */
export const admittedBy = ({ labels = {}, annotations = {}, spec }: Queued): Admitted | undefined => {
  const queue = localQueueOf({ metadata: { labels, annotations } });
  return queue === undefined
    ? undefined
    : { queue, executors: Math.max(0, withDefaults(spec).executor.instances ?? 0) };
};
