/**
 * The decision of one step of a SparkConnect: keeps its ConfigMap and its Service as desired, creates its server where
 * there is none, and again after it has ended. Pure.
 *
 * There is one server at a time by its name alone: while a pod of that name exists, none is created.
 */

import { all, type Decision, get, list, type Reads, settled } from "../../core/decision.ts";
import { digestOf, fieldsOf, isRecord, same } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Obj, Ref, Resource, Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Effect, Plan, Query, View, Wait } from "../../core/plan.ts";
import { backoffOf } from "../../core/time.ts";
import type { StateUpdate } from "../../core/updates.ts";
import { until, type WaitingOn } from "../../core/waiting-on.ts";
import { isEnding, isOver, ownedBy, podStatus, waitingReason } from "../../kube/pods.ts";
import { configMaps, pods, services } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";

import { type Startup, withStartup } from "../../kube/startup.ts";
import { configMapName, connectLabel, launchedLabel, serverName, sparkConnects } from "../schema/resource.ts";
import { withConfDefaults } from "../schema/rules.ts";
import { type Exposure, type ExposureOptions, exposureOf } from "./exposure.ts";
import { idling } from "./idle.ts";
import { ignoredOfServer } from "./ignored.ts";
import {
  type ConnectState,
  endingsOf,
  heldConditions,
  isReady,
  type Memory,
  parseMemory,
  projected,
  recovery,
  type ServerExecutors,
  separated,
} from "./memory.ts";
import { configMap, type Images, type Server, serverPod, service, serviceName, specAnnotation } from "./objects.ts";
import { readConnectSpec } from "./read.ts";
import { sparkConnectWatcher } from "./watches.ts";

/** The server's pod; `isStale`: its spec is an earlier one, so that the plan waits for more than its start. */
export type Starting = { readonly pod: Stored; readonly isStale: boolean };

const waitsFor =
  (isStale: boolean): Startup["waitsFor"] =>
  (why, besides = until("its server", "started")) =>
    isStale ? { on: "podStart", pod: "it", why, besides } : until("its server", "started", why);

/** Adds the reasons why the server does not start. Counts restart with a ready server, so an event names its pod. */
export const startingUp = (
  view: View<Memory>,
  object: Stored,
  plan: Plan<Memory>,
  starting: Starting | undefined,
): Decision<Memory> => {
  const startup: Startup = {
    ...{ object, resource: sparkConnects, run: plan.memory.ends, role: "server" },
    ...(starting === undefined ? {} : { occasion: starting.pod.metadata.uid }),
    pods: settled(starting === undefined ? [] : [starting.pod]),
    waitsFor: waitsFor(starting?.isStale ?? false),
  };
  return withStartup(view, startup, plan);
};

/** A deployment's settings for all SparkConnects. */
export type Settings = {
  /** The API server's address for pods. */
  readonly apiServer: string;
  /** Confs below those of each SparkConnect. */
  readonly sparkDefaults: Readonly<Record<string, string>>;
  readonly exposure: ExposureOptions;
};

type ConnectContext = {
  readonly object: Stored;
  readonly memory: Memory;
  readonly server: Server;
  readonly now: number;
  readonly view: View<Memory>;
  readonly images: Images;
  /** The route to the server from outside of the cluster. */
  readonly exposure: Exposure | undefined;
  /** Confs and fields of the spec that the server does not get. */
  readonly ignored: readonly string[];
};

/** Poll intervals, ms, for changes that no watch reports, or whose event is lost. */
const pollMs = 15_000;
const slowPollMs = 60_000;

const refOf = (resource: Resource, { namespace }: Server, name: string): Ref => ({ resource, namespace, name });

const got = (ref: Ref): Extract<Query, { do: "get" }> => ({ do: "get", ref });

const executorsOf = ({ name, namespace }: Server): Extract<Query, { do: "list" }> => ({
  do: "list",
  resource: pods,
  namespace,
  labels: { [launchedLabel]: "true", [connectLabel]: name, "spark-role": "executor" },
});

type Sight = {
  readonly map: Stored | undefined;
  readonly service: Stored | undefined;
  /** The effects on what leads to the server from outside. */
  readonly exposing: readonly Effect[];
  readonly pod: Stored | undefined;
} & ServerExecutors;

/** Creates what leads to the server from outside where it is missing. */
function* exposing({ exposure, server, object: owner }: ConnectContext): Reads<readonly Effect[]> {
  if (exposure === undefined) return [];
  const { resource, object } = exposure;
  const { name, namespace } = server;
  const labels = { [connectLabel]: name };
  const found = yield* list({ do: "list", resource, namespace, labels, spared: true, optional: true });
  if (found.some(({ metadata }) => metadata.name === object.metadata.name)) return [];
  return [{ do: "create", object, resource, owner: owner.metadata.uid, optional: true }];
}

function* sightOf(context: ConnectContext): Reads<Sight> {
  const { server } = context;
  const [[map, service, pod], executors] = yield* all([
    all([
      get(got(refOf(configMaps, server, configMapName(server.name)))),
      get(got(refOf(services, server, serviceName(server)))),
      get(got(refOf(pods, server, serverName(server.name)))),
    ]),
    list(executorsOf(server)),
  ]);
  return { map, service, pod, exposing: yield* exposing(context), ...separated(pod, executors) };
}

/** The fields of `wanted` that differ in the object, as a merge patch; undefined when none does. */
const missing = (there: unknown, wanted: unknown): Readonly<Record<string, unknown>> | undefined => {
  if (!isRecord(wanted)) return undefined;
  const own = fieldsOf(there);
  const wrong = Object.entries(wanted).filter(([key, value]) => !same(own[key], value));
  return wrong.length === 0 ? undefined : Object.fromEntries(wrong);
};

/** Creates a missing object, and patches different labels or data; the create refuses another owner's object. */
const kept = (
  context: ConnectContext,
  resource: Resource,
  there: Stored | undefined,
  wanted: Obj,
): readonly Effect[] => {
  const owner = context.object.metadata.uid;
  if (there === undefined || !ownedBy(there, owner)) return [{ do: "create", object: wanted, resource, owner }];
  const labels = missing(there.metadata.labels, wanted.metadata.labels);
  const data = missing(there["data"], wanted["data"]);
  if (labels === undefined && data === undefined) return [];
  const patch = { ...(labels === undefined ? {} : { metadata: { labels } }), ...(data === undefined ? {} : { data }) };
  const { uid, resourceVersion, name } = there.metadata;
  return [{ do: "patch", ref: refOf(resource, context.server, name), uid, resourceVersion, patch }];
};

const longestBackoffMs = 300_000;

/** 5 s, 10 s, 20 s … 5 min: the wait before a new server grows with the ends in a row. */
const backoffMs = (ends: number): number => backoffOf(ends, 5_000, longestBackoffMs);

/** The consequence of the server pod's state. */
type Turn = {
  readonly memory: Memory;
  readonly effects: readonly Effect[];
  readonly events?: readonly Effect[];
  readonly message: string;
  readonly waits: Wait;
};

/** The memory of a server that is not ready: reported reasons are kept, so that none is reported twice. */
const unready = ({ ends, held }: Memory): Memory => (held === undefined ? { ends } : { ends, held });

/** The most events about ignored parts of one server: its condition and `rekindle status` tell them all. */
const mostIgnored = 8;

const ignoredEvents = ({ object, ignored }: ConnectContext): readonly Effect[] =>
  ignored.slice(0, mostIgnored).map((says) => ({
    do: "record",
    about: object,
    resource: sparkConnects,
    occasion: says,
    type: "Warning",
    reason: "RekindleConfIgnored",
    message: says,
  }));

const create = (context: ConnectContext): Turn => {
  const { object, server, images, memory, now } = context;
  const { retryAt } = memory;
  if (retryAt !== undefined && now < retryAt) {
    const message = "Server pod has ended, and is created again";
    return { memory, effects: [], message, waits: { wakeAt: retryAt, waitsFor: until("its server", "createdAgain") } };
  }
  const made: Effect = {
    do: "create",
    object: serverPod(object, server, images),
    resource: pods,
    owner: object.metadata.uid,
  };
  const waits = { pollMs, waitsFor: until("its server", "started") };
  const events = ignoredEvents(context);
  return { memory: unready(memory), effects: [made], events, message: "Server pod is not ready: ", waits };
};

const whyEnded = (pod: Stored): string => {
  const { phase = "", reason, message, containerStatuses } = podStatus(pod);
  const exit = containerStatuses?.find(({ state }) => state?.terminated !== undefined)?.state?.terminated?.exitCode;
  const why = [reason, message, exit === undefined ? undefined : `exit code ${exit}`].filter(Boolean).join(", ");
  return `server pod is ${phase}${why === "" ? "" : ` (${why})`}`;
};

/** Deletes an ended server, so that the next can be created after the wait. */
const replace = (context: ConnectContext, pod: Stored): Turn => {
  const { object, memory, now, server } = context;
  const { name, uid } = pod.metadata;
  const message = whyEnded(pod);
  const waitMs = backoffMs(memory.ends);
  const event: Effect = {
    do: "record",
    about: object,
    resource: sparkConnects,
    occasion: uid,
    type: "Warning",
    reason: "SparkConnectServerEnded",
    message: `SparkConnect ${object.metadata.name}: ${message}; it is created again in ${waitMs / 1_000} s`,
  };
  return {
    memory: { ends: memory.ends + 1, retryAt: now + waitMs },
    effects: [{ do: "delete", ref: refOf(pods, server, name), uid }],
    events: [event],
    message,
    waits: { wakeAt: now + waitMs, waitsFor: until("its server", "createdAgain") },
  };
};

/** True when the spec has changed since the pod was created. */
const isStale = ({ object }: ConnectContext, { metadata }: Stored): boolean => {
  const current = metadata.annotations?.[specAnnotation];
  return current !== undefined && current !== digestOf(object.spec).slice(0, 16);
};

const follow = (context: ConnectContext, pod: Stored): Turn => {
  const { memory } = context;
  const ready = isReady(pod);
  const stale = until(`pod ${pod.metadata.name}`, "deletedByUser", "the spec has changed since it was created");
  const why = waitingReason(podStatus(pod));
  const waitsFor: WaitingOn = isStale(context, pod)
    ? stale
    : ready
      ? { on: "clients" }
      : until("its server", "answering", why?.slice(0, 200));
  const message = ready ? "Server pod is ready" : `Server pod is not ready: ${podStatus(pod).message ?? ""}`;
  return { memory: ready ? { ends: 0 } : unready(memory), effects: [], message, waits: { waitsFor } };
};

const ownPod = ({ object }: ConnectContext, { pod }: Sight): Stored | undefined =>
  pod !== undefined && ownedBy(pod, object.metadata.uid) ? pod : undefined;

const turnOf = (context: ConnectContext, pod: Stored | undefined): Turn => {
  const { memory } = context;
  if (pod === undefined) return create(context);
  if (!isEnding(pod)) return isOver(podStatus(pod)) ? replace(context, pod) : follow(context, pod);
  return {
    memory,
    effects: [],
    message: "Server pod is ending",
    waits: { pollMs, waitsFor: until("its server pod", "ended") },
  };
};

const planOf = (context: ConnectContext, observation: Sight): Plan<Memory> => {
  const { object, server, now, view } = context;
  const turn = turnOf(context, ownPod(context, observation));
  const refused = view.refused[0]?.message;
  const kubernetes = [
    ...kept(context, configMaps, observation.map, configMap(object, server)),
    ...kept(context, services, observation.service, service(object, server)),
    ...observation.exposing,
  ];
  const ready =
    observation.pod !== undefined && turn.memory.ends === 0 && isReady(observation.pod) && !isEnding(observation.pod);
  const shown: ConnectState = {
    state: ready && refused === undefined ? "Ready" : "NotReady",
    message: (refused ?? turn.message).slice(0, 1_024),
    podName: serverName(server.name),
    serviceName: serviceName(server),
    pod: observation.pod,
    executors: observation.current,
    ignored: context.ignored,
  };
  const status = projected(object, shown, now);
  if (refused !== undefined)
    return {
      memory: context.memory,
      stages: [],
      status,
      next: { do: "wait", pollMs: slowPollMs, waitsFor: until("the refused object", "corrected", refused) },
    };
  const stages = [kubernetes, [...turn.effects, ...endingsOf(observation)], turn.events ?? []].filter(
    (stage) => stage.length > 0,
  );
  return { memory: turn.memory, stages, status, next: { do: "wait", ...turn.waits } };
};

/** Adds what a step does about a ready server that may be idle. */
function* withIdling(context: ConnectContext, observation: Sight, plan: Plan<Memory>): Reads<Plan<Memory>> {
  const { object, server, now, view } = context;
  const pod = ownPod(context, observation);
  const { next } = plan;
  if (pod === undefined || isEnding(pod) || !isReady(pod) || next.do !== "wait" || view.refused.length > 0) return plan;
  const asked = { server: pod, sparkConf: server.spec.sparkConf };
  const { activity, effects, wakeAt } = yield* idling(object, asked, context.memory.activity, now);
  return {
    ...plan,
    memory: { ...plan.memory, ...(activity === undefined ? {} : { activity }) },
    stages: [...plan.stages, ...effects],
    next: { ...next, ...(wakeAt === undefined ? {} : { wakeAt: Math.min(wakeAt, next.wakeAt ?? wakeAt) }) },
  };
}

const startingOf = (context: ConnectContext, observation: Sight): Starting | undefined => {
  const pod = ownPod(context, observation);
  return pod === undefined ? undefined : { pod, isStale: isStale(context, pod) };
};

/** An invalid spec changes no object, and its error is shown in the status. */
const invalid = (object: Stored, memory: Memory, message: string, now: number): Plan<Memory> => {
  const { name } = object.metadata;
  const shown = { podName: serverName(name), serviceName: serverName(name), pod: undefined, executors: [] };
  const status = projected(object, { ...shown, state: "Failed", message: message.slice(0, 1_024) }, now);
  return { memory, stages: [], status, next: { do: "rest", waitsFor: until("its spec", "corrected") } };
};

/** Decides one step of a SparkConnect. It owns its objects, so that garbage collection deletes them. */
export function* decide(settings: Settings, key: Key, view: View<Memory>): Decision<Memory> {
  const { object, now } = view;
  const memory = view.memory ?? { ends: 0 };
  if (object === undefined) return { memory, stages: [], next: { do: "forget" } };
  if (isEnding(object)) return { memory, stages: [], next: { do: "wait", waitsFor: { on: "deletion" } } };
  const read = readConnectSpec(object);
  if (!read.ok) return invalid(object, memory, read.message, now);
  const labels = object.metadata.labels ?? {};
  const { apiServer, sparkDefaults } = settings;
  const spec = withConfDefaults(read.spec, sparkDefaults);
  const server: Server = { name: key.name, namespace: key.namespace, labels, spec, apiServer };
  const { images } = read;
  const ignored = ignoredOfServer(object, server, images);
  const exposure = exposureOf(object, server, settings.exposure);
  const context: ConnectContext = { object, memory, server, images, exposure, now, view, ignored };
  const observation = yield* sightOf(context);
  const plan = yield* withIdling(context, observation, planOf(context, observation));
  return view.refused.length > 0 ? plan : yield* startingUp(view, object, plan, startingOf(context, observation));
}

/** The update of a SparkConnect's plan for its listener: no state of a server is terminal. */
export const statusUpdate = ({ status }: Plan<unknown>): StateUpdate | undefined => {
  const state = status?.["state"];
  return typeof state === "string" ? { state, attempt: 0, terminal: false } : undefined;
};

/** Returns the status of the plan, or else the one shown, with the trouble as the message of its condition. */
const heldUp = (object: Stored, message: string, planned?: Json): Json | undefined => {
  const status = planned ?? fieldsOf(object.status);
  const { conditions } = status;
  return Array.isArray(conditions) ? { ...status, conditions: heldConditions(conditions, message) } : undefined;
};

/** The operator of SparkConnects under the given settings. */
export const sparkConnect = (settings: Settings): Operator<Memory> => ({
  ...sparkConnectWatcher,
  parse: parseMemory,
  statusUpdate,
  recovery,
  heldUp,
  decide: (key, view) => decide(settings, key, view),
});
