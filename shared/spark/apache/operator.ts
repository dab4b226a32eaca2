/** The operator of Apache's SparkApplication under the settings of a deployment: its watches, its record, its decision. */

import { same } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { keyKindOf, type Obj, type Stored } from "../../core/object.ts";
import type { Operator, Watch } from "../../core/operator.ts";
import type { OwnedObjects, Recovery } from "../../core/plan.ts";
import { changed, isEnding, isReady, labelOf, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { trimPod } from "../../kube/trim.ts";
import { appUidLabel } from "../submission/additions.ts";
import { decide, type Settings, statusUpdate } from "./decide.ts";
import { type Memory, parseMemory, recordOf, remembering, salvageMemory } from "./memory.ts";
import { apacheApplications, beside, isSpared, nameLabel } from "./resource.ts";
import { currentOf, submittedAt, withState } from "./status/record.ts";
import { groupOf } from "./status/summary.ts";

/** The facts of a pod that decide a step. */
const gistOf = (pod: Obj): unknown => {
  const { phase, reason, containerStatuses = [] } = podStatus(pod);
  const containers = containerStatuses.map(({ name, ready, restartCount, state }) => [
    ...[name, ready, restartCount],
    state?.terminated?.exitCode,
  ]);
  return [phase, reason, isReady(pod), isEnding(pod), containers, pod.metadata.uid];
};

const watches: readonly Watch[] = [
  { resource: apacheApplications, ownerName: ({ metadata }) => metadata.name, matters: changed },
  {
    resource: pods,
    selector: nameLabel,
    trim: trimPod,
    ownerName: (pod) => labelOf(pod, nameLabel),
    matters: (before, after) => before === undefined || !same(gistOf(before), gistOf(after)),
  },
];

const ownedObjects = ({ namespace, name }: Key, uid: string, memory: Memory | undefined): OwnedObjects => {
  const driver = memory?.run?.driverUid;
  return {
    queries: [
      { do: "list", resource: pods, namespace, labels: { [nameLabel]: name } },
      ...beside.map((resource) => ({
        ...({ do: "list", resource, namespace, labels: { [appUidLabel]: uid } } as const),
        ...(isSpared(resource) ? ({ spared: true } as const) : {}),
      })),
    ],
    owners: driver === undefined ? [uid] : [uid, driver],
  };
};

const isLive = ({ status }: Stored): boolean => {
  const record = recordOf(undefined, status);
  return record === undefined || groupOf(currentOf(record).summary) !== "terminated";
};

/** A record that cannot be read is rebuilt from the status, which shows all states. */
const recovery: Recovery<Memory> = {
  ownedObjects,
  isLive,
  rebuild: ({ object, stored, now }) => {
    const { kept, problems } = salvageMemory(stored);
    const record = recordOf(undefined, kept.status ?? object.status) ?? submittedAt(now);
    const { plannedAt = now, run } = kept;
    const memory = { ...remembering(undefined, record), plannedAt, ...(run === undefined ? {} : { run }) };
    return { memory, kept: Object.keys(kept), problems };
  },
  voided: ({ status }) => ({ status }),
  ended: (memory, now, message) => {
    const record = recordOf(memory, undefined) ?? submittedAt(now);
    return remembering(memory, withState(record, "ResourceReleased", now, { message }));
  },
};

export const apacheOperator = (settings: Settings): Operator<Memory> => ({
  kind: keyKindOf(apacheApplications),
  resource: apacheApplications,
  optional: true,
  watches,
  parse: parseMemory,
  decide: (key, view) => decide(settings, key, view),
  statusUpdate,
  recovery,
});
