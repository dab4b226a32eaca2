/**
 * Finds the reason why a pod does not start, by its conditions, its containers and the Events that scheduler, kubelet
 * and volume controllers write about it, and the advice to a user. Steps and the command line give the same answer.
 * Pure.
 */

import * as z from "zod";
import { events } from "../core/event.ts";
import { oneLine } from "../core/line.ts";
import type { Obj, Stored } from "../core/object.ts";
import type { Query } from "../core/query.ts";
import { instantOf } from "../core/time.ts";
import { conditionOf, isEnding, nodeNameOf, type PodStatus, podStatus } from "./pods.ts";
import { isRecord } from "./responses.ts";

/** A pod that has been pending for less than this is only being started. */
export const startGraceMs = 30_000;

/** The reason why a pod does not start. */
export type Holdup = {
  readonly pod: string;
  /** The platform's reason where it has one: `FailedMount`, `Unschedulable`, `ImagePullBackOff`. */
  readonly reason: string;
  readonly message: string;
  /** The advice to a user. */
  readonly help: string;
  /** The pod does not continue by itself. */
  readonly isWrong: boolean;
};

const shape = z.looseObject({
  type: z.string().optional(),
  reason: z.string().default(""),
  message: z.string().default(""),
  eventTime: z.string().nullish(),
  firstTimestamp: z.string().nullish(),
  lastTimestamp: z.string().nullish(),
  series: z.looseObject({ lastObservedTime: z.string().nullish() }).nullish(),
});

type Word = { readonly reason: string; readonly message: string };
type Told = Word & { readonly isWarning: boolean; readonly at: number };

const toldIn = (event: Obj): readonly Told[] => {
  const { success, data } = shape.safeParse(event);
  if (!success) return [];
  const { series, lastTimestamp, eventTime, firstTimestamp, type, reason, message } = data;
  const time = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp;
  return [{ reason, message, isWarning: type === "Warning", at: instantOf(time) ?? 0 }];
};

/** Returns the newest Event about a pod; of one instant, the warning. Scheduled counts as none. */
const newestOf = (about: readonly Obj[]): Told | undefined => {
  const [newest] = about
    .flatMap(toldIn)
    .toSorted((one, other) => other.at - one.at || Number(other.isWarning) - Number(one.isWarning));
  return newest?.reason === "Scheduled" ? undefined : newest;
};

/** Lists the Events of one pod. A step without the right to read them goes on without. */
export const eventsOf = ({ metadata: { namespace = "default", uid } }: Stored): Extract<Query, { do: "list" }> => ({
  do: "list",
  resource: events,
  namespace,
  labels: {},
  field: `involvedObject.uid=${uid}`,
  optional: true,
});

/**
 * Returns when a pending pod has had its time to start, epoch ms; undefined for one that runs, has ended, is under
 * deletion, or is held by a gate.
 */
export const startDueAt = (pod: Stored): number | undefined => {
  const status = podStatus(pod);
  const created = instantOf(pod.metadata.creationTimestamp);
  if (status.phase !== "Pending" || isEnding(pod) || created === undefined) return undefined;
  return conditionOf(status, "PodScheduled")?.reason === "SchedulingGated" ? undefined : created + startGraceMs;
};

/** Waiting reasons of a container whose pod is being started: they tell nothing. */
const underway: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing", ""]);

const waitingIn = ({ initContainerStatuses, containerStatuses }: PodStatus): Word | undefined => {
  const waits = [...(initContainerStatuses ?? []), ...(containerStatuses ?? [])].flatMap(({ state }) =>
    state?.waiting === undefined ? [] : [{ reason: state.waiting.reason ?? "", message: state.waiting.message ?? "" }],
  );
  return waits.find(({ reason }) => !underway.has(reason));
};

/** Returns the reason in the pod's status: the scheduler's condition, or a container's waiting reason. */
const statusWord = (pod: Obj): Word | undefined => {
  const status = podStatus(pod);
  const placed = conditionOf(status, "PodScheduled");
  if (placed?.status === "False")
    return { reason: placed.reason ?? "Unschedulable", message: placed.message ?? "no node takes it" };
  return waitingIn(status);
};

/** True if the status gives no reason or no message, so that the pod's Events are to be read. */
export const needsEvents = (pod: Obj): boolean => (statusWord(pod)?.message ?? "") === "";

const schedulerOf = (pod: Obj): string => {
  const { spec } = pod;
  const name = isRecord(spec) ? spec["schedulerName"] : undefined;
  return typeof name === "string" && name !== "" ? name : "default-scheduler";
};

/** The reason for a pod if neither its status nor its Events give one. */
const silence = (pod: Obj): Word => {
  const node = nodeNameOf(pod);
  const scheduler = schedulerOf(pod);
  return node === undefined
    ? { reason: "NotScheduled", message: `no scheduler named ${scheduler} has looked at it` }
    : {
        reason: "NotStarted",
        message: `the kubelet of node ${node} has reported nothing about it since it was scheduled`,
      };
};

type Row = readonly [says: RegExp, help: (found: RegExpExecArray, place: Place) => string];
type Place = { readonly namespace: string; readonly scheduler: string; readonly node: string };

/** Reason and message as one text → advice. The first row that matches applies. */
const rows: readonly Row[] = [
  [
    /(configmap|secret|persistentvolumeclaim|serviceaccount) "([^"]+)" not found/i,
    ([, kind = "", name = ""], { namespace }) =>
      `create ${kind.toLowerCase()} ${name.split("/").at(-1)} in namespace ${namespace}, or correct the name`,
  ],
  [
    /couldn't find key (\S+) in (ConfigMap|Secret) (\S+)/,
    ([, key, kind, name]) => `add the key ${key} to ${kind} ${name}, or correct the name`,
  ],
  [
    /non-existent (config|secret) key: ?(\S+)/,
    ([, , key]) => `add the key ${key} to the ConfigMap or Secret, or correct the name`,
  ],
  [
    /unbound immediate PersistentVolumeClaims/,
    (_, { namespace }) => `provide a volume or a StorageClass for its claim: kubectl get pvc -n ${namespace}`,
  ],
  [
    /Multi-Attach error/,
    () => "end the pod that uses its volume on another node, or use a volume that several nodes may attach",
  ],
  [
    /didn't match Pod's node affinity\/selector/,
    () => "label a node as its nodeSelector and affinity ask, or change these",
  ],
  [/untolerated taint/, () => "add a toleration for the taint, or make room on other nodes"],
  [
    /^NotScheduled: /,
    (_, { scheduler }) => `start the scheduler ${scheduler}, or give the pod the name of one that runs`,
  ],
  [/^NotStarted: /, (_, { node }) => `check whether the node is healthy: kubectl describe node ${node}`],
  [/Unschedulable|FailedScheduling/, () => "make room in the cluster, or ask for less"],
  [
    /ImagePull|InvalidImageName|ImageInspect|Failed to pull image/,
    () => "correct the image's name, or the secret that it is pulled with",
  ],
  [/runAsNonRoot/, () => "set runAsUser in the security context, or use an image with another user than root"],
  [/CreateContainer/, () => "correct the configuration of its container"],
  [
    /FailedAttachVolume/,
    (_, { namespace }) => `see its volume: kubectl get pvc -n ${namespace}; kubectl get volumeattachments`,
  ],
  [/FailedMount/, () => "provide the volume that it mounts, or remove the mount"],
  [
    /FailedCreatePodSandBox|NetworkNotReady/,
    (_, { node }) => `see the network and container runtime of its node: kubectl describe node ${node}`,
  ],
];

const helpFor = (pod: Stored, { reason, message }: Word): string => {
  const place = {
    namespace: pod.metadata.namespace ?? "default",
    scheduler: schedulerOf(pod),
    node: nodeNameOf(pod) ?? "",
  };
  for (const [says, help] of rows) {
    const found = says.exec(`${reason}: ${message}`);
    if (found !== null) return help(found, place);
  }
  return "correct what it says";
};

/** The most characters of a message. */
const longest = 400;

/** Returns the reason why a pending pod does not start; `about`: its Events, as far as they were read. */
export const holdupOf = (pod: Stored, about: readonly Obj[]): Holdup => {
  const own = statusWord(pod);
  const newest = newestOf(about);
  const word: Word =
    own === undefined
      ? (newest ?? silence(pod))
      : own.message === ""
        ? { ...own, message: newest?.message ?? "" }
        : own;
  const isWrong = own !== undefined || newest === undefined || newest.isWarning;
  const message = oneLine(word.message).slice(0, longest);
  const help = isWrong ? helpFor(pod, word) : "nothing: it continues by itself";
  return { pod: pod.metadata.name, reason: word.reason, message, help, isWrong };
};

/** Returns reason and message in one line. */
export const holdupText = ({ reason, message }: Holdup): string => (message === "" ? reason : `${reason}: ${message}`);
