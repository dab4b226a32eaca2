/** What of the world is news to a SparkConnect, for those who only watch and need none of its decisions. */
import { same } from "../../core/json.ts";
import type { Obj, Resource } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { isEnding, labelOf, podStatus } from "../../kube/pods.ts";
import { changed } from "../../kube/relevant-change.ts";
import { configMaps, pods, services } from "../../kube/resources.ts";
import { isRecord } from "../../kube/responses.ts";
import { trimPod } from "../../kube/trim.ts";
import { connectLabel, launchedLabel, sparkConnects } from "./resource.ts";

const addressOf = ({ status }: Obj): unknown => (isRecord(status) ? status["podIP"] : undefined);

/** What the status of a SparkConnect tells of a pod. */
const gist = (pod: Obj): unknown => {
  const ready = podStatus(pod).conditions?.find(({ type }) => type === "Ready")?.status;
  return [podStatus(pod).phase, ready, addressOf(pod), isEnding(pod), pod.metadata.uid];
};

const watches: readonly Watch[] = [
  { resource: sparkConnects, ownerName: (object) => object.metadata.name, matters: changed },
  {
    resource: pods,
    selector: `${launchedLabel}=true`,
    trim: trimPod,
    ownerName: (pod) => labelOf(pod, connectLabel),
    matters: (before, after) => before === undefined || !same(gist(before), gist(after)),
  },
];

/** Made by steps alone, so that only who changes or removes them makes news. */
const kept = (resource: Resource): Watch => ({
  resource,
  selector: connectLabel,
  ownerName: (object) => labelOf(object, connectLabel),
  matters: (before) => before !== undefined,
});

/** A SparkConnect as a forwarder knows it. */
export const connectWatcher = {
  kind: sparkConnects.kind,
  resource: sparkConnects,
  optional: true,
  watches: [...watches, kept(configMaps), kept(services)],
} as const;
