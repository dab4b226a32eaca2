/** SparkConnect as the engine knows it: what to watch, how to read its memory, how to decide. */
import { same } from "../../core/json.ts";
import type { Obj, Resource } from "../../core/object.ts";
import type { Operator, Watch } from "../../core/operator.ts";
import { isRecord } from "../../kube/answers.ts";
import { changed } from "../../kube/news.ts";
import { isEnding, labelOf, podStatus } from "../../kube/pods.ts";
import { configMaps, pods, services } from "../../kube/resources.ts";
import { trimPod } from "../../kube/trim.ts";
import { decide, type Settings } from "./decide.ts";
import { type Memory, parseMemory } from "./memory.ts";
import { recovery } from "./recovery.ts";
import { connectLabel, launchedLabel, sparkConnects } from "./resource.ts";
import { tells } from "./telling.ts";

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

/** The operator of SparkConnects under the given settings. */
export const sparkConnect = (settings: Settings): Operator<Memory> => ({
  kind: sparkConnects.kind,
  resource: sparkConnects,
  optional: true,
  watches: [...watches, kept(configMaps), kept(services)],
  parse: parseMemory,
  tells,
  recovery,
  decide: (key, view) => decide(settings, key, view),
});
