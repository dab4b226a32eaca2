/** The Events of scheduler and kubelets about pods, for `kubectl describe`. Created only on request. */

import { createHash } from "node:crypto";
import { make } from "../controllers/initial-objects.ts";
import { stamp } from "../storage/clock.ts";
import { itemsAt, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { Refusal } from "../storage/refusal.ts";
import type { Change } from "../storage/store.ts";
import type { Part } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";
import { missingMount } from "./kubelet.ts";
import { isUp } from "./pod-status.ts";

type EventText = { readonly type?: "Warning"; readonly reason: string; readonly message: string; readonly by?: string };

const scheduledCondition = (pod: Item | undefined): unknown =>
  itemsAt(pod, "status", "conditions").find((each) => textAt(each, "type") === "PodScheduled");

const nodeOf = (pod: Item | undefined): string => textAt(pod, "spec", "nodeName") ?? "";

const imagesOf = (pod: Item): readonly string[] =>
  itemsAt(pod, "spec", "containers").map((each) => textAt(each, "image") ?? "");

const namesOf = (pod: Item): readonly string[] =>
  itemsAt(pod, "spec", "containers").map((each) => textAt(each, "name") ?? "");

const waitingOf = (pod: Item | undefined): { reason: string; message: string } => {
  const state = itemsAt(pod, "status", "containerStatuses")[0];
  return {
    reason: textAt(state, "state", "waiting", "reason") ?? "",
    message: textAt(state, "state", "waiting", "message") ?? "",
  };
};

const scheduling = (pod: Item, before: Item | undefined): readonly EventText[] => {
  const by = "default-scheduler";
  const message = textAt(scheduledCondition(pod), "message") ?? "";
  if (nodeOf(pod) !== "" && nodeOf(before) === "") {
    const place = `${pod.metadata.namespace}/${pod.metadata.name}`;
    return [{ by, reason: "Scheduled", message: `Successfully assigned ${place} to ${nodeOf(pod)}` }];
  }
  return message !== "" && message !== (textAt(scheduledCondition(before), "message") ?? "")
    ? [{ by, type: "Warning", reason: "FailedScheduling", message }]
    : [];
};

const starting = (pod: Item, before: Item | undefined): readonly EventText[] =>
  isUp(pod) && !(before !== undefined && isUp(before))
    ? [
        ...imagesOf(pod).map((image) => ({
          reason: "Pulled",
          message: `Container image "${image}" already present on machine`,
        })),
        ...namesOf(pod).map((name) => ({ reason: "Started", message: `Container started: ${name}` })),
      ]
    : [];

const troubles: Readonly<Record<string, string>> = {
  ErrImagePull: "Failed",
  ImagePullBackOff: "BackOff",
  CrashLoopBackOff: "BackOff",
  ContainerCreating: "FailedMount",
};

const waiting = (server: Server, pod: Item, before: Item | undefined): readonly EventText[] => {
  const { reason, message } = waitingOf(pod);
  const trouble = troubles[reason];
  return trouble === undefined || reason === waitingOf(before).reason
    ? []
    : [{ type: "Warning", reason: trouble, message: message === "" ? (missingMount(server, pod) ?? "") : message }];
};

const killing = (pod: Item, before: Item | undefined): readonly EventText[] =>
  pod.metadata.deletionTimestamp !== undefined && before?.metadata.deletionTimestamp === undefined && isUp(pod)
    ? namesOf(pod).map((name) => ({ reason: "Killing", message: `Stopping container ${name}` }))
    : [];

const evicting = (pod: Item, before: Item | undefined): readonly EventText[] =>
  textAt(pod, "status", "reason") === "Evicted" && textAt(before, "status", "reason") !== "Evicted"
    ? [{ type: "Warning", reason: "Evicted", message: textAt(pod, "status", "message") ?? "" }]
    : [];

const toldOf = (server: Server, { object, before }: Change): readonly EventText[] => [
  ...scheduling(object, before),
  ...waiting(server, object, before),
  ...starting(object, before),
  ...killing(object, before),
  ...evicting(object, before),
];

const record = (server: Server, pod: Item, { type, reason, message, by = "kubelet" }: EventText, nth: number): void => {
  const { name, namespace, uid, resourceVersion } = pod.metadata;
  const time = stamp(server.clock.now());
  const suffix = createHash("sha1").update(`${uid}/${resourceVersion}/${nth}`).digest("hex").slice(0, 16);
  const host = nodeOf(pod);
  make(server, "events", namespace, {
    metadata: { name: `${name}.${suffix}` },
    involvedObject: { kind: "Pod", namespace, name, uid, apiVersion: "v1", resourceVersion },
    reason,
    message,
    source: { component: by, ...(by === "kubelet" && host !== "" && { host }) },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: type ?? "Normal",
    reportingComponent: by,
  });
};

const hear = (server: Server, change: Change): void => {
  if (change.table !== "pods" || change.type === "DELETED") return;
  for (const [nth, event] of toldOf(server, change).entries())
    try {
      record(server, change.object, event, nth);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
};

export const events = (server: Server): Part => ({ onChange: (change) => hear(server, change), tasks: {} });
