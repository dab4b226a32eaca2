/** Everything in one process, on one cluster: watches, the embedded queue with its workers, steps, timers and resyncs. */
import { getHeapStatistics } from "node:v8";
import { withoutRepeats } from "../../adapters/telemetry/log.ts";
import { openTelemetry, type Telemetry } from "../../adapters/telemetry/tracing.ts";
import type { Transport } from "../../core/http.ts";
import { dedupe, type Key, type Message, noticedKind, subjectOf } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { World } from "../../engine/context/world.ts";
import type { CheckpointRecord, Journal, Queue, Report, Slices } from "../../engine/ports.ts";
import { take } from "../../engine/reconcile/intake.ts";
import { decisionBudgetMs, type RecoverySettings, type Timing } from "../../engine/settings.ts";
import type { FindControllers, Standing } from "../../forward/controller-detection.ts";
import { noticing } from "../../forward/node-notice.ts";
import { openBreather } from "../../forward/pause.ts";
import { openUnheardBoard } from "../../forward/unheard.ts";
import type { Rates } from "../../inspection/rates.ts";
import type { Family } from "../../kube/resources.ts";
import type { Options } from "../../spark/auxiliary-objects/options.ts";
import type { GangEviction, GangMode } from "../../volcano/gang/settings.ts";
import { openDecisionLog, type RecordingMode } from "../common/decision-log.ts";
import { openNamespaceScope } from "../common/namespaces.ts";
import { noticesOf } from "../common/notices.ts";
import { provenRecords } from "../common/proven-records.ts";
import type { LazyNats } from "../common/queues.ts";
import { openRecords, tellingSaves } from "../common/records.ts";
import { openRuntime } from "../common/runtime.ts";
import { quarantineFor } from "../common/step-dependencies.ts";
import { updatesFor } from "../common/updates.ts";
import { deliveryFor, type Listening, withResources } from "../deliver/function.ts";
import type { Families } from "../reconcile/families.ts";
import { type Sources, startSources } from "../resync/sources.ts";
import type { Naming } from "../settings/conversions.ts";
import type { Place } from "../settings/formats.ts";
import { openStepCache } from "./cache.ts";
import type { HostKinds } from "./kinds.ts";
import { type HostMeter, openMetering, type Scrape, upstreamNaming } from "./metrics.ts";
import { type HostQueues, openHostQueues, openNatsHostQueues, type WeightOf } from "./queues.ts";
import { openHostSlots } from "./slots.ts";
import { openAside } from "./standby.ts";

export type HostSettings = {
  readonly transport: Transport;
  readonly report: Report;
  /** Alias of the cluster in keys. */
  readonly cluster: string;
  /** Empty: all namespaces, unless a selector chooses some. */
  readonly namespaces: readonly string[];
  /** Label selector of further namespaces. */
  readonly namespaceSelector?: string | undefined;
  readonly selector: string | undefined;
  readonly timing: Timing;
  /** The record store; absent: `Checkpoint` objects beside the applications. */
  readonly place?: Place;
  /** Namespace for records of cluster-scoped objects; absent: the adapter's default. */
  readonly home?: string;
  /** Absent: the defaults. */
  readonly recovery?: RecoverySettings;
  readonly spark: Options;
  /** Families to run; absent: the default ones. */
  readonly families?: readonly Family[];
  /** `gang`: the component that admits PodGroups; absent: detected. `gangEvict`: which groups may lose pods to others; absent: none. */
  readonly gang?: GangMode;
  readonly gangEvict?: GangEviction;
  /** Namespaces in which signs of Volcano's scheduler count; absent: the usual ones. */
  readonly controllerNamespaces?: readonly string[];
  /** Namespaces whose Commands apply to queues; absent: the namespace that vcctl uses. */
  readonly queueCommandNamespaces?: readonly string[];
  /** Names of metrics; absent: upstream's defaults. */
  readonly naming?: Naming;
  /** Nodes are watched; absent: they are not. */
  readonly watchNodes?: boolean;
  /** False: a scrape counts no objects; absent: it does. */
  readonly gauges?: boolean;
  /** Absent: no prices are set. */
  readonly rates?: Rates | undefined;
  /** Steps at once. */
  readonly concurrency: number;
  /** Steps that may submit at once. */
  readonly maxSubmissions: number;
  /** Absent: all namespaces have the same share. */
  readonly weightOf?: WeightOf;
  readonly resyncMs: number;
  /** The longest wait of news that decides nothing, ms; absent: it waits no longer than other news. */
  readonly patientMs?: number;
  readonly visibilityMs: number;
  readonly slices: Slices;
  /** The queues on NATS; absent: they are inside the process, as in a dry run. */
  readonly nats?: LazyNats | undefined;
  /** The quarantine's storage on disk; absent: it ends with the process. */
  readonly journal?: Journal | undefined;
  /** Listeners of status updates; absent: none are sent. */
  readonly listening?: Listening;
  /** Which decisions are recorded in the log; absent: those about annotated objects. */
  readonly recordDecisions?: RecordingMode;
  /** Dry run: receives each plan, and is called after each resync; nothing is written. */
  readonly shadow: World["shadow"];
  readonly resynced?: () => void;
  /** Detects other controllers; absent: this host never stands by. */
  readonly lookout?: FindControllers | undefined;
  /** Receives every watched object as the server sent it. */
  readonly see?: ((object: Stored) => void) | undefined;
  /** Receives every record that this host has saved; undefined: it is removed. */
  readonly recorded?: ((key: Key, record: CheckpointRecord | undefined) => void) | undefined;
  /** Receives every watched object that was deleted, trimmed. */
  readonly gone?: ((object: Stored) => void) | undefined;
};

export type Host = {
  /** True once every watch has listed its objects and a resync has succeeded. */
  ready(): boolean;
  /** The other controllers beside which this host writes nothing. */
  standing(): Standing;
  /** Changes that the last resync found and no message had told. */
  unheard(): number;
  /** Requests a step of this key. An event id that was seen in the last five minutes is ignored. */
  trigger(key: Omit<Key, "cluster">, eventId: string): Promise<void>;
  /**
   * Writes a notice onto the pods of a node, named by its own name or its machine's. `until` in epoch ms; undefined: the
   * node stays.
   */
  notice(node: string, until: number | undefined): Promise<void>;
  /** Sends a message to the queue of its key. */
  send: Queue["send"];
  kinds(): readonly string[];
  /** Returns the metrics in the Prometheus text format. */
  scrape(): Promise<Scrape>;
  /** Rejects while a queue outside of the process cannot be reached. */
  depth(): Promise<{ readonly ready: number; readonly delayed: number; readonly busy: number }>;
  /** Stops watching, finishes the steps in flight, and resolves. */
  drain(graceMs: number): Promise<void>;
};

const shadowOf = ({ shadow }: HostSettings): Pick<World, "shadow"> => (shadow === undefined ? {} : { shadow });

/** Opens status updates; a dry run sends none. */
const tellingOf = ({ listening, shadow }: HostSettings, world: World): Pick<World, "updates" | "deliver"> =>
  listening === undefined || shadow !== undefined
    ? {}
    : { updates: updatesFor(world, listening), deliver: deliveryFor(withResources(world), listening) };

/** Opens the recording of decisions. Its lines bypass the limit on similar lines, because each is another decision. */
const recordingFor = (
  { recordDecisions: mode = "annotated", timing, spark, ...queueing }: HostSettings,
  report: Report,
): Pick<World, "recording"> => {
  const { gang, gangEvict, controllerNamespaces, queueCommandNamespaces } = queueing;
  const groups = { ...(gang && { gang }), ...(gangEvict && { gangEvict }) };
  const places = {
    ...(controllerNamespaces && { controllerNamespaces }),
    ...(queueCommandNamespaces && { queueCommandNamespaces }),
  };
  const queues = { ...groups, ...places };
  return openDecisionLog({ report, mode, settings: { timing, spark, queues }, now: Date.now });
};

type Stepping = {
  readonly world: World;
  readonly metering: HostMeter;
  readonly families: Families;
};

/** Returns the function that takes messages of one key, and returns true when they are done. A kind is loaded with its first step. */
const stepping =
  ({ world, metering, families }: Stepping) =>
  async (messages: readonly Message[]): Promise<boolean> => {
    const [first] = messages;
    const about = first === undefined ? undefined : (noticedKind(first) ?? (subjectOf(first) ?? first).kind);
    const known = families.kinds.find(({ kind }) => kind === about);
    if (known !== undefined) await families.load(known.kind);
    return (await metering.step(messages, () => take(world, messages))) !== undefined;
  };

/**
 * Opens the transport that counts requests, the records, and the metrics. The metrics read records through the
 * uncounted transport.
 */
const openStore = (
  settings: HostSettings,
  { namespaceScope, standing }: Pick<Parameters<typeof openMetering>[0], "namespaceScope" | "standing">,
  telemetry: Telemetry,
) => {
  const { naming = upstreamNaming, rates, gauges = true, cluster, timing, place = { in: "kubernetes" } } = settings;
  const home = settings.home === undefined ? {} : { home: settings.home };
  const around = { transport: settings.transport, cluster, ...home, timeoutMs: timing.requestTimeoutMs };
  const { hints } = openRecords(place, around);
  const measured = { naming, rates, gauges, transport: settings.transport, hints, namespaceScope, standing };
  const unheard = openUnheardBoard();
  const metering = openMetering({ ...measured, unheard: unheard.latest, now: Date.now });
  const transport = telemetry.transport(metering.counted(settings.transport));
  const { checkpoints } = openRecords(place, { ...around, transport });
  const own = provenRecords(checkpoints, settings.listening ?? { to: "" }, settings.report);
  return { metering, unheard, transport, checkpoints: tellingSaves(own, settings.recorded), hints };
};

/** Opens the limits on one key's use of shared resources. */
const boundsOf = (settings: HostSettings): Pick<World, "quarantine" | "turns" | "creators"> => ({
  quarantine: quarantineFor(decisionBudgetMs.host, settings.slices, settings.journal),
  ...openHostSlots(settings.maxSubmissions),
});

/** The memory for watched objects, bytes. */
const cacheBytes = (): number => getHeapStatistics().heap_size_limit / 4;

const queuesOf = (
  { nats, shadow, visibilityMs, weightOf }: HostSettings,
  metering: HostMeter,
  report: Report,
): HostQueues =>
  nats === undefined || shadow !== undefined
    ? openHostQueues(visibilityMs, metering.timed, weightOf)
    : openNatsHostQueues(nats, report);

/** Takes what others ask of a host: steps, and notices about nodes. */
const askedBy = (
  cluster: string,
  queue: Pick<Queue, "send">,
  notice: (message: Message) => Promise<unknown>,
): Pick<Host, "trigger" | "notice"> => ({
  trigger: ({ kind, namespace, name }, eventId) => {
    const key = { cluster, kind, namespace, name };
    return queue.send({ ...key, reason: "trigger" }, dedupe.trigger(key, eventId));
  },
  notice: async (node, until) => {
    // Written before the answer, because the queue is lost with the process. A sender without an answer sends again.
    for (const one of noticesOf(cluster, node, until)) await notice(one);
  },
});

/** Opens and starts a host of these kinds. */
export const openHost = async (settings: HostSettings, kinds: HostKinds): Promise<Host> => {
  const { cluster, selector, timing } = settings;
  const telemetry = openTelemetry({ report: settings.report, level: "debug" });
  const report = withoutRepeats(telemetry.report, Date.now);
  const namespaceScope = openNamespaceScope({ ...settings, report, now: Date.now });
  const { watched: namespaces, within } = namespaceScope;
  await within();
  const aside = openAside(settings);
  const { metering, hints, unheard, ...ways } = openStore(settings, { namespaceScope, ...aside }, telemetry);
  const mail = queuesOf(settings, metering, report);
  const queue = telemetry.queue(mail.queue);
  const { families, operators, watcherOf } = kinds;
  const world = await openRuntime({
    ...{ ...ways, queue, report, timing, operatorOf: families.operatorOf, recovery: settings.recovery },
    ...{ telemetry, clockFrom: "answered", scope: { cluster, selector, namespaceScope } },
    own: ({ serverTime }) => ({
      ...{ ...boundsOf(settings), ...recordingFor(settings, telemetry.report), ...shadowOf(settings) },
      ...{ standby: aside.standbyOf(families), meter: metering.meter },
      cache: openStepCache({
        resourceOf: (kind) => watcherOf(kind)?.resource,
        known: (query) => sources.known(query),
        serverTime,
      }),
    }),
    more: (charged) => ({
      notice: noticing({ ...charged, operatorOf: watcherOf, namespaces }),
      ...tellingOf(settings, charged),
    }),
  });
  const about = { cluster, namespaces, selector, operators, within, updates: world.updates !== undefined };
  const scope = { ...about, transport: ways.transport, hints, queue, breathe: openBreather(() => performance.now()) };
  const sources: Sources = await startSources({
    ...{ scope, namespaceScope, report, unheard, resyncMs: settings.resyncMs, watchNodes: settings.watchNodes },
    // A dry run tells the plan of every object, also of those that rest.
    watches: {
      ...{ see: settings.see, gone: settings.gone, patientMs: settings.patientMs },
      ...{ cacheBytes: cacheBytes(), all: settings.shadow !== undefined },
    },
    standby: async (anew) => {
      await aside.start(operators, anew);
      return aside.stop;
    },
    resynced: settings.resynced,
  });
  const workers = mail.start(stepping({ world, metering, families }), settings.concurrency);
  return {
    ready: sources.ready,
    ...{ standing: aside.standing, unheard: unheard.latest, scrape: metering.scrape },
    ...askedBy(cluster, queue, world.notice),
    send: queue.send,
    kinds: () => operators.map((operator) => operator.kind),
    depth: async () => ({ ...(await mail.depth()), busy: workers.busy() }),
    drain: async (graceMs) => {
      await sources.stop();
      await workers.stop(graceMs);
    },
  };
};
