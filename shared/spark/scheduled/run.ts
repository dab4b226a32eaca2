/** The SparkApplication of one time of the schedule, with upstream's name, labels and owner. */
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { inheritedListener } from "../../core/sink.ts";
import type { Json } from "../../kube/responses.ts";
import { sparkApplications } from "../application/spec/resource.ts";
import { scheduledSparkApplications, scheduleLabel } from "./resource.ts";

/** The longest name of a SparkApplication, which is a label and a prefix of services' names. */
const longestRunName = 63;

/** Zeros after the seconds, from nanoseconds, upstream's default, to none. */
const precisions = ["000000000", "000000", "000", ""] as const;

const secondsDigits = 10;

/** The longest name of a schedule. */
export const longestName = longestRunName - secondsDigits - 1;

/** The name of the run at a time of the schedule, so that one time makes one run; as precise as the length allows. */
export const runName = (name: string, tick: number): string => {
  const seconds = `${name}-${Math.floor(tick / 1_000)}`;
  const zeros = precisions.find((digits) => seconds.length + digits.length <= longestRunName);
  return `${seconds}${zeros ?? ""}`;
};

const annotated = (annotations: Readonly<Record<string, string>>) =>
  Object.keys(annotations).length === 0 ? {} : { annotations };

const runOf = ({ metadata }: Stored, template: Json, name: string): Obj => ({
  apiVersion: apiVersionOf(sparkApplications),
  kind: sparkApplications.kind,
  metadata: {
    name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    labels: { ...metadata.labels, [scheduleLabel]: metadata.name },
    ...annotated(inheritedListener(metadata.annotations)),
    ownerReferences: [
      {
        apiVersion: apiVersionOf(scheduledSparkApplications),
        kind: scheduledSparkApplications.kind,
        name: metadata.name,
        uid: metadata.uid,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: template,
});

/** Creates the run; an existing object of the name is this run. */
export const creation = (object: Stored, template: Json, name: string): Effect => ({
  do: "create",
  object: runOf(object, template, name),
  resource: sparkApplications,
  owner: object.metadata.uid,
});
