/**
 * The dispatcher at work, from the moment it holds its lease until it loses it: watches, the embedded queue, timers and
 * resyncs, as in a host; each step and each delivery of updates is a call of a function.
 */
import { type Agents, type Call, type MakeProof, openCall, takingBy } from "../../adapters/dispatch/call.ts";
import type { CarriedMessage } from "../../adapters/dispatch/carrier.ts";
import { type EmbeddedQueue, openQueue } from "../../adapters/embedded/queue.ts";
import { startWorkers, type Workers } from "../../adapters/embedded/workers.ts";
import type { Telemetry } from "../../adapters/telemetry/tracing.ts";
import type { Transport } from "../../core/http.ts";
import { groupOf, type Message, noticedKind, textOf } from "../../core/key.ts";
import type { Watcher } from "../../core/operator.ts";
import { readMessage } from "../../engine/message.ts";
import type { Clock, Cluster, Queue } from "../../engine/ports.ts";
import type { ServerTime } from "../../engine/server-time.ts";
import { openSignStore } from "../../forward/controller-detection.ts";
import { openCursors } from "../../forward/cursors.ts";
import { type Enclosing, openEnclosing, openWholeObjects } from "../../forward/enclosures.ts";
import type { Forwarder } from "../../forward/forwarder.ts";
import { renewMs } from "../../forward/lease.ts";
import { openBreather } from "../../forward/pause.ts";
import type { UnheardBoard } from "../../forward/unheard.ts";
import { pods } from "../../kube/resources.ts";
import { runs } from "../../registry/names.ts";
import { watchers } from "../../registry/watchers.ts";
import type { NamespaceScope } from "../common/namespaces.ts";
import { withDeliveryQueue } from "../common/queues.ts";
import type { Records } from "../common/records.ts";
import { type StandingBoard, sightingKey, startSighting } from "../common/standby.ts";
import { readClusterUid } from "../common/step-dependencies.ts";
import type { HostMeter } from "../host/metrics.ts";
import { type Sources, startSources } from "../resync/sources.ts";
import { lookoutOf, weightOf } from "../settings/conversions.ts";
import type { Settings } from "../settings/read.ts";

/** The parts that outlive a lease. */
export type DispatchParts = {
  readonly settings: Settings<"dispatch">;
  readonly telemetry: Telemetry;
  readonly transport: Transport;
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Returns the latest reading of the API server's clock, by `clock`. */
  readonly serverTime: ServerTime["latest"];
  readonly namespaceScope: NamespaceScope;
  readonly records: Records;
  readonly metering: HostMeter;
  /** The other controllers beside which functions write nothing. */
  readonly standing: StandingBoard;
  /** Changes that the last resync found and no message had told. */
  readonly unheard: UnheardBoard;
  readonly agents: Agents;
  readonly prove: MakeProof;
  /** False: no call may begin, because another dispatcher may hold the lease. */
  readonly mayCall: () => boolean;
};

export type Dispatching = {
  /** True once every watch has listed its objects and a resync has succeeded. */
  ready(): boolean;
  readonly queue: Queue;
  /**
   * Calls the function with a notice about a node, past the queue, which is lost with the process. Rejects unless the
   * notice is written: its sender tries again.
   */
  notice(message: Message): Promise<void>;
  /** Begins no other call. Resolves when the calls in flight have ended, or `graceMs` has passed. */
  stop(graceMs: number): Promise<void>;
};

/** Deliveries of status updates at once. */
const deliveriesAtOnce = 8;
/** A message that is begun this often is dropped: functions give up its key long before. The next resync sends it. */
const maxReceives = 10;
/** The most messages of a call, as Lambda's. */
const mostMessages = 10;
/** The time that the queue waits beyond the limit of a call, ms: the call's own end decides first. */
const marginMs = 5_000;
/** The time of a call beside its step, ms: the start of a function's process, and the step's last requests. */
const besideMs = 40_000;
/** The shortest wait that a function's answer may ask for, ms. */
const leastAgainMs = 1_000;
const againMs = 1_000;
/** The age from which a reading of the server's clock is not passed on, ms: the lease is read more often. */
const longestUnreadMs = 10_000;

/** Monotonic, ms. */
const now = (): number => performance.now();

/** Returns the time limit of a call, ms. */
const limitOf = ({ stepMs }: Settings<"dispatch">): number => stepMs + besideMs;

/** Puts a message that a function sends into the queue. One that cannot be read is logged and dropped. */
const putting =
  (queue: Queue, { report }: Telemetry) =>
  async ({ body, id, delayMs }: CarriedMessage): Promise<void> => {
    const message = readMessage(body);
    if (message === undefined) {
      report("error", "dropped a message of a function that is not Rekindle's", { id });
      return;
    }
    await (delayMs === undefined ? queue.send(message, id) : queue.sendLater(message, id, delayMs));
  };

const openQueues = ({ settings, telemetry, metering }: DispatchParts) => {
  const bury = (message: Message): void =>
    telemetry.report("error", "gave up a message that was delivered too often", { key: textOf(message) });
  const open = (): EmbeddedQueue =>
    openQueue({
      ...{ now, visibilityMs: limitOf(settings) + marginMs, maxReceives, mostMessages, bury },
      weightOf: weightOf(settings),
    });
  const steps = open();
  const deliveries = open();
  return { steps, deliveries, queue: telemetry.queue(withDeliveryQueue(metering.timed(steps), deliveries)) };
};

type Calls = { readonly reconcile: Call; readonly deliver: Call };

/** Opens the calls of both functions. */
const openCalls = ({ settings, metering, agents, prove, mayCall }: DispatchParts): Calls => {
  const callOf = (url: string): Call => {
    const limits = { limitMs: limitOf(settings), leastAgainMs };
    const call = openCall({ url, ...limits, prove, agents, now: Date.now });
    return async (...delivery) =>
      mayCall() ? await call(...delivery) : { did: "refused", why: "the lease is not held", againMs: renewMs };
  };
  return { reconcile: metering.call(callOf(settings.callUrls.reconcile)), deliver: callOf(settings.callUrls.deliver) };
};

/** Starts the calls: those of steps and those of deliveries, so that no step waits behind a listener. */
const startCalls = (
  { settings, telemetry }: DispatchParts,
  { steps, deliveries, queue }: ReturnType<typeof openQueues>,
  { reconcile, deliver }: Calls,
  enclosing: Enclosing | undefined,
): Workers => {
  const common = { put: putting(queue, telemetry), report: telemetry.report, now, random: Math.random };
  const stepping = startWorkers({
    ...{ queue: steps, parallel: settings.concurrency, againMs, now },
    take: takingBy({ ...common, call: reconcile, ...(enclosing === undefined ? {} : { enclosing }) }),
  });
  const delivering = startWorkers({
    ...{ queue: deliveries, take: takingBy({ ...common, call: deliver }), againMs, now },
    parallel: deliveriesAtOnce,
  });
  return {
    busy: () => stepping.busy() + delivering.busy(),
    stop: async (graceMs) => void (await Promise.all([stepping.stop(graceMs), delivering.stop(graceMs)])),
  };
};

const isNotice = ({ body }: CarriedMessage): boolean => {
  const message = readMessage(body);
  return message !== undefined && noticedKind(message) !== undefined;
};

/** Takes notices by calls of their own. A step that could not write a notice sends it again. */
const noticing =
  (call: Call, put: (one: CarriedMessage) => Promise<void>) =>
  async (message: Message): Promise<void> => {
    const { namespace } = message;
    const called = await call({ group: groupOf(message), namespace, receipt: 0, messages: [message], received: [1] });
    if (called.did !== "answered") throw new Error(`the notice is not written: ${called.why}`);
    for (const one of called.carried) await put(one);
    if (called.failed.length > 0 || called.carried.some(isNotice)) throw new Error("the notice is not written yet");
  };

/** Looks for other controllers, and keeps what is seen for the functions. Without leases in the settings nobody looks. */
const sightingOf = async (
  { settings, cluster, records, telemetry, namespaceScope, standing }: DispatchParts,
  operators: readonly Watcher[],
  freed: () => void,
) => {
  const { report } = telemetry;
  const key = sightingKey(settings.cluster, namespaceScope.watched);
  const lookout = lookoutOf(settings);
  if (lookout.leases.length === 0 || key === undefined) return async () => {};
  const { checkpoints } = records;
  const cursors = openCursors({ checkpoints, clusterUid: await readClusterUid(cluster), report });
  const groups = operators.map(({ resource }) => resource.group);
  const sightings = openSignStore(cursors, key);
  return startSighting({ cluster, groups, lookout, report, sightings, freed, found: standing.tell });
};

/** True if no stranger reads what goes to the URL: over TLS, on this machine, or within the cluster. */
const isPrivate = (text: string): boolean => {
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || /^(127\.0\.0\.1|localhost|.*\.svc(\.cluster\.local)?)$/.test(hostname);
};

/**
 * Opens what calls enclose, and the store that takes in the whole objects for it; undefined where strangers might read
 * it on its way, because a spec may hold secrets.
 */
const enclosingFor = (
  { settings, clock, serverTime }: DispatchParts,
  operators: readonly Watcher[],
  known: Forwarder["known"],
) => {
  if (!isPrivate(settings.callUrls.reconcile)) return undefined;
  const watchers = operators.filter(({ encloses }) => encloses !== undefined);
  const kinds = new Set([...watchers.map(({ kind }) => kind), pods.kind]);
  const objects = openWholeObjects(({ kind }) => kinds.has(kind));
  const { monotonic } = clock;
  const enclosing = openEnclosing({
    ...{ watchers, whole: objects.whole, now: monotonic, known },
    serverTime: () => {
      const latest = serverTime();
      return latest === undefined || monotonic() - latest.at > longestUnreadMs ? undefined : latest;
    },
  });
  return { enclosing, see: objects.see, gone: objects.gone };
};

/** Starts everything. What a dispatcher before this one knew is made again: by lists, and by the records' timers. */
export const startDispatching = async (parts: DispatchParts): Promise<Dispatching> => {
  const { settings, telemetry, transport, namespaceScope, records } = parts;
  const { report } = telemetry;
  const { cluster, selector } = settings;
  const { watched: namespaces, within } = namespaceScope;
  await within();
  const queues = openQueues(parts);
  const { queue } = queues;
  const operators = watchers.filter(runs(settings.families));
  const about = { cluster, namespaces, selector, operators, within, updates: true };
  const scope = { ...about, transport, hints: records.hints, queue, breathe: openBreather(now) };
  const open = openCalls(parts);
  // The bell sends the keys of a dispatcher that has one.
  const isWatching = settings.admissionPath === undefined;
  const enclosed = isWatching ? enclosingFor(parts, operators, (query) => sources.known(query)) : undefined;
  const sources: Sources = await startSources({
    ...{ scope, namespaceScope, report, unheard: parts.unheard, resyncMs: settings.resyncMs },
    watchNodes: settings.watchNodes,
    watches: isWatching ? { see: enclosed?.see, gone: enclosed?.gone, patientMs: settings.newsWaitMs } : undefined,
    standby: (anew) => sightingOf(parts, operators, anew),
  });
  const calls = startCalls(parts, queues, open, enclosed?.enclosing);
  return {
    ready: sources.ready,
    queue,
    notice: noticing(open.reconcile, putting(queue, telemetry)),
    // Calls first: a lost lease allows no further one.
    stop: async (graceMs) => void (await Promise.all([calls.stop(graceMs), sources.stop()])),
  };
};
