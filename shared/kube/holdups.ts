/**
 * What keeps a pod from starting, by its conditions, its containers and the events that scheduler, kubelet and volume
 * controllers write about it; and what a person can do. Steps and the command line tell the same. Pure.
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

/** What keeps a pod from starting. */
export type Holdup = {
  readonly pod: string;
  /** In the platform's words where it has one: `FailedMount`, `Unschedulable`, `ImagePullBackOff`. */
  readonly reason: string;
  readonly message: string;
  /** What a person can do about it. */
  readonly help: string;
  /** It does not go on by itself. */
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

/** The newest word of the platform on a pod: of one moment, the warning. That a pod was scheduled says nothing of what came then. */
const newestOf = (about: readonly Obj[]): Told | undefined => {
  const [newest] = about
    .flatMap(toldIn)
    .toSorted((one, other) => other.at - one.at || Number(other.isWarning) - Number(one.isWarning));
  return newest?.reason === "Scheduled" ? undefined : newest;
};

/** Lists the events of one pod. Who may not read them goes on without. */
export const eventsOf = ({ metadata: { namespace = "default", uid } }: Stored): Extract<Query, { do: "list" }> => ({
  do: "list",
  resource: events,
  namespace,
  labels: {},
  field: `involvedObject.uid=${uid}`,
  optional: true,
});

/** When a pending pod has had its time to start, epoch ms; undefined for one that is up, over, ending, or held by a gate. */
export const startDueAt = (pod: Stored): number | undefined => {
  const status = podStatus(pod);
  const created = instantOf(pod.metadata.creationTimestamp);
  if (status.phase !== "Pending" || isEnding(pod) || created === undefined) return undefined;
  return conditionOf(status, "PodScheduled")?.reason === "SchedulingGated" ? undefined : created + startGraceMs;
};

/** A container waits like this while its pod is started: it says nothing. */
const underway: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing", ""]);

const waitingIn = ({ initContainerStatuses, containerStatuses }: PodStatus): Word | undefined => {
  const waits = [...(initContainerStatuses ?? []), ...(containerStatuses ?? [])].flatMap(({ state }) =>
    state?.waiting === undefined ? [] : [{ reason: state.waiting.reason ?? "", message: state.waiting.message ?? "" }],
  );
  return waits.find(({ reason }) => !underway.has(reason));
};

/** What its status says by itself: the scheduler's condition, or a container's reason. */
const statusWord = (pod: Obj): Word | undefined => {
  const status = podStatus(pod);
  const placed = conditionOf(status, "PodScheduled");
  if (placed?.status === "False")
    return { reason: placed.reason ?? "Unschedulable", message: placed.message ?? "no node takes it" };
  return waitingIn(status);
};

/** Its status leaves open why, or in which words: its events are worth a look. */
export const needsEvents = (pod: Obj): boolean => (statusWord(pod)?.message ?? "") === "";

const schedulerOf = (pod: Obj): string => {
  const { spec } = pod;
  const name = isRecord(spec) ? spec["schedulerName"] : undefined;
  return typeof name === "string" && name !== "" ? name : "default-scheduler";
};

/** Neither status nor events say anything. */
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

/** Reason and message as one text → what to do. The first that fits is told. */
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

/** As much of a message as is told. */
const longest = 400;

/** What keeps a pending pod from starting; `about`: its events, as far as they were read. */
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

/** Reason and message in one line. */
export const holdupText = ({ reason, message }: Holdup): string => (message === "" ? reason : `${reason}: ${message}`);
