/** The operator of Apache's SparkApplication under the settings of a deployment: its record, its decision. */

import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { OwnedObjects, Recovery } from "../../core/plan.ts";
import { appUidLabel } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import type { ApacheSettings } from "./context.ts";
import { decide, heldUp, statusUpdate } from "./decide.ts";
import { type Memory, parseMemory, recordOf, remembering, salvageMemory } from "./memory.ts";
import { measuresOfApache } from "./metrics.ts";
import { troubleWord } from "./quota.ts";
import { beside, isSpared, nameLabel } from "./resource.ts";
import { currentOf, submittedAt, withState } from "./status/record.ts";
import { groupOf } from "./status/summary.ts";
import { apacheSparkApplicationWatcher } from "./watches.ts";

export type { ApacheSettings } from "./context.ts";

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
    const { plannedAt = now, run, allotment } = kept;
    const memory = {
      ...{ ...remembering(undefined, record), plannedAt },
      ...(run === undefined ? {} : { run }),
      ...(allotment === undefined ? {} : { allotment }),
    };
    return { memory, kept: Object.keys(kept), problems };
  },
  voided: ({ status }) => ({ status }),
  ended: (memory, now, message) => {
    const record = recordOf(memory, undefined) ?? submittedAt(now);
    return remembering(memory, withState(record, "ResourceReleased", now, { message }));
  },
};

/** The operator as the registry loads it. */
export const apacheSparkApplicationOperator = (settings: ApacheSettings): Operator<Memory> => ({
  ...apacheSparkApplicationWatcher,
  parse: parseMemory,
  decide: (key, view) => decide(settings, key, view),
  statusUpdate,
  recovery,
  heldUp,
  troubleWord,
  measuresOf: measuresOfApache,
});
