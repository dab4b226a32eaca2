/** A run as an object: the SparkApplication that one time of the schedule makes, with upstream's name, labels and owner. */
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { inheritedListener } from "../../core/sink.ts";
import type { Json } from "../../kube/responses.ts";
import { sparkApplications } from "../application/resource.ts";
import { scheduledSparkApplications, scheduleLabel } from "./resource.ts";

/** A SparkApplication's name is a label and the beginning of services' names. */
const longestRunName = 63;

/** From nanoseconds, upstream's default, to seconds: digits after the seconds. */
const precisions = ["000000000", "000000", "000", ""] as const;

const secondsDigits = 10;

/** A schedule's name may have this many characters. */
export const longestName = longestRunName - secondsDigits - 1;

/** The time of the schedule makes the name, so that one time makes one run. As precise as there is room for. */
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

/** Creates the run; where it stands already, it is this very one. */
export const creation = (object: Stored, template: Json, name: string): Effect => ({
  do: "create",
  object: runOf(object, template, name),
  resource: sparkApplications,
  owner: object.metadata.uid,
});
