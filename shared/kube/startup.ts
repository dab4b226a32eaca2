/**
 * Pods that do not start. The reason is found by the pod's conditions, its containers and the Events that scheduler,
 * kubelet and volume controllers write about it, equally for steps and the command line; a step's record says what the
 * pods wait for, and an Event reports each reason once. Pure.
 */

import * as z from "zod";
import { type Decision, list, type Reads } from "../core/decision.ts";
import { events } from "../core/event.ts";
import type { Obj, Resource, Stored } from "../core/object.ts";
import { type Effect, type Next, notYetRecorded, type Plan, type Query, type View, waitOf } from "../core/plan.ts";
import { oneLine } from "../core/text.ts";
import { instantOf } from "../core/time.ts";
import type { WaitingOn } from "../core/waiting-on.ts";
import { conditionOf, isEnding, nodeNameOf, type PodStatus, podSpec, podStatus } from "./pods.ts";
import { pods } from "./resources.ts";

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
type StartupEvent = Word & { readonly isWarning: boolean; readonly at: number };

const toldIn = (event: Obj): readonly StartupEvent[] => {
  const { success, data } = shape.safeParse(event);
  if (!success) return [];
  const { series, lastTimestamp, eventTime, firstTimestamp, type, reason, message } = data;
  const time = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp;
  return [{ reason, message, isWarning: type === "Warning", at: instantOf(time) ?? 0 }];
};

/** Returns the newest Event about a pod; of one instant, the warning. Scheduled counts as none. */
const newestOf = (about: readonly Obj[]): StartupEvent | undefined => {
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
  const { schedulerName = "" } = podSpec(pod);
  return schedulerName === "" ? "default-scheduler" : schedulerName;
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
  return "correct what the message names";
};

/** The most characters of a message. */
const longestWord = 400;

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
  const message = oneLine(word.message).slice(0, longestWord);
  const help = isWrong ? helpFor(pod, word) : "nothing: it continues by itself";
  return { pod: pod.metadata.name, reason: word.reason, message, help, isWrong };
};

/** Returns reason and message in one line. */
export const holdupText = ({ reason, message }: Holdup): string => (message === "" ? reason : `${reason}: ${message}`);

/** Reasons that were reported for pods that do not start, as a memory keeps them: each with its run and its role. */
export type ReportedHoldups = { readonly held?: readonly string[] | undefined };

export type Startup = {
  readonly object: Stored;
  readonly resource: Resource;
  /** The attempt or version that the pods are of. */
  readonly run: number;
  /** The role of the pods, as `driver` or `executor`; each reason is reported once for a role. */
  readonly role: string;
  /** The pod's UID, where runs are counted anew: it makes the Event's name unique. */
  readonly occasion?: string;
  /** Read only if the plan neither creates pods nor ends the record. */
  readonly pods: Reads<readonly Stored[]>;
  /** Returns what the record waits for; `before` is the wait of the plan. */
  readonly waitsFor: (text: string, before: WaitingOn | undefined, holdup: Holdup) => WaitingOn;
};

type Pending = { readonly pod: Stored; readonly dueAt: number };

type Finding = { readonly holdup?: Holdup; readonly pollMs?: number };

/** Returns how soon a step looks again at such a pod: less often with time, finally only by a resync. */
const pollMsAt = (lateMs: number): number | undefined => {
  if (lateMs < 120_000) return startGraceMs;
  return lateMs < 600_000 ? 60_000 : undefined;
};

const pollOf = (pollMs: number | undefined): { readonly pollMs?: number } => (pollMs === undefined ? {} : { pollMs });

const pendingAmong = (all: readonly Stored[]): readonly Pending[] =>
  all.flatMap((pod) => {
    const dueAt = startDueAt(pod);
    return dueAt === undefined ? [] : [{ pod, dueAt }];
  });

/** Looks at the first pod whose status gives a reason, else at the first; one pod is enough for a report. */
function* findingOf({ now }: View<unknown>, all: readonly Stored[]): Reads<Finding> {
  const pending = pendingAmong(all);
  const late = pending.filter(({ dueAt }) => dueAt <= now);
  const chosen = late.find(({ pod }) => !needsEvents(pod)) ?? late[0];
  if (chosen === undefined) return pollOf(pending.length === 0 ? undefined : startGraceMs);
  const silent = needsEvents(chosen.pod);
  const about = silent ? yield* list(eventsOf(chosen.pod)) : [];
  const polls = silent ? pollMsAt(now - chosen.dueAt) : late.length < pending.length ? startGraceMs : undefined;
  return { holdup: holdupOf(chosen.pod, about), ...pollOf(polls) };
}

/** Leaves out the pods that the step deletes: the reason of their deletion is reported instead. */
const staying = (
  { done = [] }: View<unknown>,
  { stages }: Plan<unknown>,
  all: readonly Stored[],
): readonly Stored[] => {
  const effects = [...done, ...stages.flat()];
  const ended = new Set(effects.flatMap((effect) => (effect.do === "delete" ? [effect.uid] : [])));
  return all.filter(({ metadata }) => !ended.has(metadata.uid));
};

/** The most reasons that are remembered. */
const mostReported = 8;

const longestMessage = 1_000;

const eventOf = ({ object, resource, role, occasion }: Startup, gist: string, holdup: Holdup): Effect => ({
  do: "record",
  about: object,
  resource,
  occasion: occasion === undefined ? gist : `${gist} ${occasion}`,
  type: "Warning",
  reason: "PodNotStarting",
  message: `${role} pod ${holdup.pod} does not start: ${holdupText(holdup)}; ${holdup.help}`.slice(0, longestMessage),
});

/** Returns one reason for two that the kubelet writes in turns about the same problem. */
const reasonOf = ({ reason }: Holdup): string => (reason === "ErrImagePull" ? "ImagePullBackOff" : reason);

/** Returns the plan with a poll after this many ms, unless it has a sooner one. */
const polled = <Memory>(plan: Plan<Memory>, pollMs: number | undefined): Plan<Memory> => {
  const wait = waitOf(plan);
  if (pollMs === undefined || (wait.pollMs ?? Number.POSITIVE_INFINITY) <= pollMs) return plan;
  return { ...plan, next: { do: plan.next.do === "again" ? "again" : "wait", ...wait, pollMs } };
};

const waitingFor = ({ next }: Plan<unknown>, waitsFor: WaitingOn): Next =>
  next.do === "forget" ? next : { ...next, waitsFor };

const makesPods = ({ stages }: Plan<unknown>): boolean =>
  stages.flat().some((effect) => effect.do === "create" && effect.resource === pods);

/** Adds to the plan what its pods wait for. A new reason is recorded first, so that a death loses nothing. */
const reporting = <Memory extends ReportedHoldups>(
  view: View<Memory>,
  startup: Startup,
  plan: Plan<Memory>,
  holdup: Holdup,
): Plan<Memory> => {
  const waitsFor = startup.waitsFor(holdupText(holdup).slice(0, 300), waitOf(plan).waitsFor, holdup);
  const now: Plan<Memory> = { ...plan, next: waitingFor(plan, waitsFor) };
  const run = `${startup.run} `;
  const gist = `${run}${startup.role} ${reasonOf(holdup)}`;
  const known = (plan.memory.held ?? []).filter((one) => one.startsWith(run));
  if (!holdup.isWrong || known.includes(gist)) return now;
  const event = eventOf(startup, gist, holdup);
  if (notYetRecorded(view, [event]).length > 0)
    return {
      ...now,
      memory: view.memory ?? plan.memory,
      stages: [[event]],
      next: { ...waitOf(now), do: "continue" },
    };
  const { statusIsRecord: _, ...safety } = now.safety ?? {};
  return { ...now, safety, memory: { ...plan.memory, held: [...known, gist].slice(-mostReported) } };
};

/** Adds to the plan of a step what keeps these pods from starting. */
export function* withStartup<Memory extends ReportedHoldups>(
  view: View<Memory>,
  startup: Startup,
  plan: Plan<Memory>,
): Decision<Memory> {
  if (plan.next.do === "continue" || plan.next.do === "forget") return plan;
  // A pod that the plan creates has no status yet: a poll finds out whether it starts.
  if (makesPods(plan)) return polled(plan, startGraceMs);
  const { holdup, pollMs } = yield* findingOf(view, staying(view, plan, yield* startup.pods));
  const looking = polled(plan, pollMs);
  return holdup === undefined ? looking : reporting(view, startup, looking, holdup);
}
