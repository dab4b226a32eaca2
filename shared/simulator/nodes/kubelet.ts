/**
 * The kubelets: they start pods bound to their node, report their status, and end them. On request, scheduler and
 * kubelets also create their Events about pods, for `kubectl describe`.
 */

import { createHash } from "node:crypto";
import { make } from "../controllers/initial-objects.ts";
import { stamp, type Task } from "../storage/clock.ts";
import { at, itemsAt, numberAt, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { Refusal } from "../storage/refusal.ts";
import { type Change, keyOf } from "../storage/store.ts";
import { about, discard, type Part, rewrite, runAfter, subject } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";
import { isSilent, nodeOf } from "./machines.ts";
import { backingOff, type Exit, ended, isOver, isUp, restartsOf, running, waiting } from "./pod-status.ts";
import type { Memory, PodScript } from "./script.ts";

export type Kubelets = {
  readonly server: Server;
  readonly memory: Memory;
  readonly scriptOf: (pod: Item) => PodScript;
};

const startMs = 300;
const stopMs = 500;
/** From a pod's terminal phase to its removal: clients see it as ended and being deleted meanwhile. */
const removeMs = 200;
/** Exit codes of processes that a signal ended. */
const sigterm = 143;
const sigkill = 137;
const mountMs = 100;
const pullBackOffMs = 15_000;
const maxBackOffMs = 300_000;

/** Acts on the pod's machine: later if the machine is frozen, never if it is gone. */
export const onMachine = (
  { server, memory }: Pick<Kubelets, "server" | "memory">,
  task: Task,
  act: (pod: Item) => void,
): void => {
  const pod = subject(server, task);
  const node = pod === undefined ? undefined : nodeOf(server, pod);
  if (pod === undefined || node === undefined) return;
  if (isSilent(node)) memory.hold(task);
  else act(pod);
};

const isBound = (pod: Item | undefined): boolean => (textAt(pod, "spec", "nodeName") ?? "") !== "";

type Mount = readonly [table: string, name: string, volume: string];

/** The required ConfigMaps and Secrets of a pod, with the names of their volumes. */
const mountsOf = (pod: Item): readonly Mount[] =>
  itemsAt(pod, "spec", "volumes").flatMap((volume): Mount[] => {
    const called = textAt(volume, "name") ?? "";
    const configMap = textAt(volume, "configMap", "name");
    const secret = textAt(volume, "secret", "secretName");
    if (configMap !== undefined && at(volume, "configMap", "optional") !== true)
      return [["configmaps", configMap, called]];
    return secret !== undefined && at(volume, "secret", "optional") !== true ? [["secrets", secret, called]] : [];
  });

/** The first required mount that does not exist, in the kubelet's words. */
const missingMount = ({ store }: Server, pod: Item): string | undefined =>
  mountsOf(pod)
    .filter(([table, name]) => store.get(table, keyOf(pod.metadata.namespace, name)) === undefined)
    .map(
      ([table, name, volume]) =>
        `MountVolume.SetUp failed for volume "${volume}" : ${table.slice(0, -1)} "${name}" not found`,
    )[0];

const pullFails = (pod: Item, script: PodScript): boolean =>
  script.pull === "fails" ||
  itemsAt(pod, "spec", "containers").some((each) => textAt(each, "image")?.includes("does-not-exist"));

const refusePull = ({ server }: Kubelets, pod: Item): void => {
  const image = textAt(itemsAt(pod, "spec", "containers")[0], "image") ?? "";
  const now = server.clock.now();
  rewrite(
    server,
    "pods",
    pod,
    waiting(pod, now, "ErrImagePull", `failed to pull and unpack image "${image}": not found`),
  );
  runAfter(server, pullBackOffMs, about("kubelet.backoff", pod, { image }));
};

const start = (kubelets: Kubelets, pod: Item): void => {
  const { server, scriptOf } = kubelets;
  if (isOver(pod) || isUp(pod) || pod.metadata.deletionTimestamp !== undefined) return;
  const now = server.clock.now();
  const script = scriptOf(pod);
  if (missingMount(server, pod) !== undefined) {
    rewrite(server, "pods", pod, waiting(pod, now, "ContainerCreating"));
  } else if (pullFails(pod, script)) refusePull(kubelets, pod);
  else {
    const up = rewrite(server, "pods", pod, running(pod, now));
    if (script.runMs !== undefined)
      runAfter(server, script.runMs, exitTask(up, { code: script.exitCode ?? 0, reason: script.reason }));
  }
};

/** The task that ends the process of a pod's current run. */
export const exitTask = (pod: Item, { code, reason }: Exit): Task =>
  about("kubelet.exit", pod, { code, run: restartsOf(pod), ...(reason !== undefined && { reason }) });

const comesBack = (pod: Item, code: number): boolean => {
  const policy = textAt(pod, "spec", "restartPolicy");
  return (
    pod.metadata.deletionTimestamp === undefined && (policy === "Always" || (policy === "OnFailure" && code !== 0))
  );
};

/** The first restart comes at once, each later one after twice the time. */
const backOffMs = (restarts: number): number => (restarts === 0 ? 1000 : Math.min(maxBackOffMs, 5000 * 2 ** restarts));

const exit = ({ server }: Kubelets, pod: Item, task: Task): void => {
  const code = numberAt(task, "code") ?? 0;
  if (!isUp(pod) || restartsOf(pod) !== (numberAt(task, "run") ?? 0)) return;
  const outcome = { code, reason: textAt(task, "reason") };
  const now = server.clock.now();
  if (!comesBack(pod, code)) {
    rewrite(server, "pods", pod, ended(pod, now, outcome, false));
    return;
  }
  const down = rewrite(server, "pods", pod, backingOff(pod, now, outcome));
  runAfter(server, backOffMs(restartsOf(pod)), about("kubelet.start", down));
};

/** The exit of containers that a kubelet finds neither running nor ended when it is done with their pod. */
const notFound: Exit = { code: 137, reason: "ContainerStatusUnknown" };

/**
 * Gives a deleted pod its terminal phase and removes it after that, as kubelets do since 1.27: Succeeded if its
 * processes ended with 0, Failed where they never ran. As kubelet status_manager.go, TerminatePod.
 */
const stop = ({ server, scriptOf }: Kubelets, pod: Item, task: Task): void => {
  if (pod.metadata.deletionTimestamp === undefined) return;
  const exit = isUp(pod) ? { code: numberAt(task, "code") ?? sigterm } : notFound;
  const last = isOver(pod) ? pod : rewrite(server, "pods", pod, ended(pod, server.clock.now(), exit, true));
  runAfter(server, scriptOf(pod).removeMs ?? removeMs, about("kubelet.remove", last));
};

/** Removes the pod, after the kubelet's cleanup. */
const remove = ({ server }: Kubelets, pod: Item): void => {
  if (pod.metadata.deletionTimestamp !== undefined) discard(server, "pods", pod, { graceSeconds: 0 });
};

/** The deletion of a pod was requested, or its grace made shorter: SIGTERM, and SIGKILL when the grace is over. */
const hearDeletion = ({ server, scriptOf }: Kubelets, { before, object }: Change): void => {
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0 } = object.metadata;
  if (deletionTimestamp === undefined || before?.metadata.deletionTimestamp === deletionTimestamp) return;
  if (isOver(object) && grace === 0) return;
  const { stopMs: takes = stopMs, stopCode = sigterm } = scriptOf(object);
  const isInTime = takes <= grace * 1000;
  const code = isInTime ? stopCode : sigkill;
  runAfter(server, isInTime ? takes : grace * 1000, about("kubelet.stop", object, { code }));
};

const backOff = ({ server }: Kubelets, pod: Item, task: Task): void => {
  const image = textAt(task, "image") ?? "";
  const waits = itemsAt(pod, "status", "containerStatuses").some(
    (each) => textAt(each, "state", "waiting", "reason") === "ErrImagePull",
  );
  if (waits)
    rewrite(
      server,
      "pods",
      pod,
      waiting(pod, server.clock.now(), "ImagePullBackOff", `Back-off pulling image "${image}"`),
    );
};

const hearPod = (kubelets: Kubelets, change: Change): void => {
  const { server, scriptOf } = kubelets;
  const { before, object } = change;
  if (!isBound(object)) return;
  if (!isBound(before)) runAfter(server, scriptOf(object).startMs ?? startMs, about("kubelet.start", object));
  hearDeletion(kubelets, change);
  const images = (pod: Item | undefined) =>
    itemsAt(pod, "spec", "containers")
      .map((each) => textAt(each, "image"))
      .join();
  if (before !== undefined && images(before) !== images(object))
    runAfter(server, startMs, about("kubelet.start", object));
};

const isCreating = (pod: Item): boolean =>
  itemsAt(pod, "status", "containerStatuses").some(
    (each) => textAt(each, "state", "waiting", "reason") === "ContainerCreating",
  );

/** Starts the pods that may have waited for this ConfigMap or Secret. */
const hearMount = ({ server }: Kubelets, { object }: Change): void => {
  if (server.store.list("nodes").length === 0) return;
  for (const pod of server.store.list("pods"))
    if (pod.metadata.namespace === object.metadata.namespace && isCreating(pod))
      runAfter(server, mountMs, about("kubelet.start", pod));
};

/** Continues the held tasks of a machine that is thawed. */
const hearNode = ({ server, memory }: Kubelets, { before, object }: Change): void => {
  if (!isSilent(before) || isSilent(object)) return;
  for (const task of memory.release()) runAfter(server, 0, task);
};

const hear = (kubelets: Kubelets, change: Change): void => {
  const { type, table } = change;
  if (table === "pods" && type !== "DELETED") hearPod(kubelets, change);
  else if (type === "ADDED" && (table === "configmaps" || table === "secrets")) hearMount(kubelets, change);
  else if (table === "nodes") hearNode(kubelets, change);
};

export const kubelet = (kubelets: Kubelets): Part => ({
  onChange: (change) => hear(kubelets, change),
  tasks: {
    "kubelet.start": (task) => onMachine(kubelets, task, (pod) => start(kubelets, pod)),
    "kubelet.exit": (task) => onMachine(kubelets, task, (pod) => exit(kubelets, pod, task)),
    "kubelet.stop": (task) => onMachine(kubelets, task, (pod) => stop(kubelets, pod, task)),
    "kubelet.remove": (task) => onMachine(kubelets, task, (pod) => remove(kubelets, pod)),
    "kubelet.backoff": (task) => onMachine(kubelets, task, (pod) => backOff(kubelets, pod, task)),
  },
});

type EventText = { readonly type?: "Warning"; readonly reason: string; readonly message: string; readonly by?: string };

const scheduledCondition = (pod: Item | undefined): unknown =>
  itemsAt(pod, "status", "conditions").find((each) => textAt(each, "type") === "PodScheduled");

const nodeNameOf = (pod: Item | undefined): string => textAt(pod, "spec", "nodeName") ?? "";

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
  if (nodeNameOf(pod) !== "" && nodeNameOf(before) === "") {
    const place = `${pod.metadata.namespace}/${pod.metadata.name}`;
    return [{ by, reason: "Scheduled", message: `Successfully assigned ${place} to ${nodeNameOf(pod)}` }];
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

const waitingTexts = (server: Server, pod: Item, before: Item | undefined): readonly EventText[] => {
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
  ...waitingTexts(server, object, before),
  ...starting(object, before),
  ...killing(object, before),
  ...evicting(object, before),
];

const record = (server: Server, pod: Item, { type, reason, message, by = "kubelet" }: EventText, nth: number): void => {
  const { name, namespace, uid, resourceVersion } = pod.metadata;
  const time = stamp(server.clock.now());
  const suffix = createHash("sha1").update(`${uid}/${resourceVersion}/${nth}`).digest("hex").slice(0, 16);
  const host = nodeNameOf(pod);
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

const recordEvents = (server: Server, change: Change): void => {
  if (change.table !== "pods" || change.type === "DELETED") return;
  for (const [nth, event] of toldOf(server, change).entries())
    try {
      record(server, change.object, event, nth);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
};

export const events = (server: Server): Part => ({ onChange: (change) => recordEvents(server, change), tasks: {} });
