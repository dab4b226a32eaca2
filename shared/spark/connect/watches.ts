/** The watches of SparkConnects, for forwarders: they need none of the decisions. */
import { isRecord, same } from "../../core/json.ts";
import type { Obj, Resource } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { changed, isEnding, labelOf, podStatus } from "../../kube/pods.ts";
import { configMaps, pods, services } from "../../kube/resources.ts";
import { trimPod } from "../../kube/trim.ts";
import { connectLabel, launchedLabel, sparkConnects } from "../schema/resource.ts";

const addressOf = ({ status }: Obj): unknown => (isRecord(status) ? status["podIP"] : undefined);

/** The fields of a pod that the status of a SparkConnect shows. */
const connectGist = (pod: Obj): unknown => {
  const ready = podStatus(pod).conditions?.find(({ type }) => type === "Ready")?.status;
  return [podStatus(pod).phase, ready, addressOf(pod), isEnding(pod), pod.metadata.uid];
};

const connectWatches: readonly Watch[] = [
  { resource: sparkConnects, ownerName: (object) => object.metadata.name, matters: changed },
  {
    resource: pods,
    selector: `${launchedLabel}=true`,
    trim: trimPod,
    ownerName: (pod) => labelOf(pod, connectLabel),
    matters: (before, after) => before === undefined || !same(connectGist(before), connectGist(after)),
  },
];

/** Watches objects that only steps create: a change or a deletion is news, a creation is none. */
const kept = (resource: Resource): Watch => ({
  resource,
  selector: connectLabel,
  ownerName: (object) => labelOf(object, connectLabel),
  matters: (before) => before !== undefined,
});

/** The SparkConnect watcher for forwarders. */
export const sparkConnectWatcher = {
  kind: sparkConnects.kind,
  resource: sparkConnects,
  optional: true,
  watches: [...connectWatches, kept(configMaps), kept(services)],
} as const;
