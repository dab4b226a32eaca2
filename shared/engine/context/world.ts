/**
 * The world of a step: its ports, the kinds that it knows, its settings, the cache of its process, and the recovery
 * that a user asks for. The context of a step adds its stored record, and its observation, which holds the object, the
 * record and the server time as the step first read them.
 */
import { idOf, type Key, type Message } from "../../core/key.ts";
import type { Meter } from "../../core/metric.ts";
import { type Ref, type Resource, refText, type Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Effect, Looking, Plan, Returning } from "../../core/plan.ts";
import { dateAt, type Epoch } from "../../core/time.ts";
import type { Defect } from "../checkpoint/classify.ts";
import type { ApplyContext } from "../cluster/apply.ts";
import type { KeepRecording } from "../cluster/queries.ts";
import type { NamespaceShare, Slot, Slots } from "../load-limits.ts";
import type {
  Chance,
  CheckpointRecord,
  Checkpoints,
  Clock,
  Cluster,
  Enclosure,
  Queue,
  Report,
  Updates,
  Version,
} from "../ports.ts";
import type { Quarantine } from "../quarantine.ts";
import { type RecoverySettings, recoveryOf, type Timing } from "../settings.ts";

/**
 * The end of a step. Without a record, the memory is the one that the object's status implies: see writes/status.ts.
 */
export type CachedStep = (
  | { readonly record: CheckpointRecord; readonly version: Version }
  | { readonly record: undefined; readonly memory: unknown }
) & { readonly object: Stored; readonly epoch: Epoch };

/** A cached step whose object has changed since. */
export type ChangedStep = {
  readonly step: CachedStep;
  readonly object: Stored | undefined;
  /** The latest reading of the server's clock. */
  readonly epoch: Epoch;
};

/**
 * The cache of a process. All of it may be outdated, so a plan that needs live reads is decided again: see
 * reads/freshness.ts. The save is conditional as always: a step that begins with an outdated record
 * loses the save and has touched nothing.
 */
export type StepCache = {
  /** Removes and returns the entry of the key; undefined if the object has changed since. */
  take(key: Key): CachedStep | undefined;
  /**
   * Returns the entry of the key if its object has changed since, and the object as the watch has shown it now, whole or
   * not at all.
   */
  changed(key: Key): ChangedStep | undefined;
  keep(key: Key, recollection: CachedStep): void;
  /**
   * Returns a new object, whole, as the watch has shown it, and the server's clock; undefined if either is not known.
   */
  appeared(key: Key): { readonly object: Stored; readonly epoch: Epoch } | undefined;
  /**
   * Takes in an object that a step of the key has created, as the server answered: it is known before the watch shows
   * it.
   */
  made(key: Key, resource: Resource, object: Stored): void;
  /**
   * Tells the cache that the key's record rests on live reads, or on those of another process: the watch may be behind
   * it.
   */
  invalidate(key: Key): void;
  /**
   * Returns the watched objects that answer the query; undefined if not all of them are watched, or one is missing.
   * "current": only if the watch is not behind any read of the key's steps.
   */
  look(key: Key, query: Looking, least?: "current"): readonly Stored[] | undefined;
};

export type RecoveryRequest = {
  /** `reconnect`: adopt the live objects and wait for missing ones. `cleanup`: end everything that the key owns. */
  readonly mode: "reconnect" | "cleanup";
  /** The record is discarded, whatever it contains. */
  readonly fresh: boolean;
  /**
   * Length of the recovery window (Mesos: re-registration timeout), ms; absent: the object's own, or the deployment's.
   */
  readonly returnMs?: number;
  /** The time that objects have to end before they are deleted by force. */
  readonly graceSeconds: number;
};

/** The state of a key at the beginning of its recovery, and the outcome for its record. */
export type Finding = {
  /** The state of the record. */
  readonly record: "sound" | "missing" | "damaged" | "newer" | "incompatible" | "elsewhere";
  readonly why: string;
  /** Fields that were kept of a damaged record. */
  readonly kept: readonly string[];
  readonly problems: readonly string[];
  /** Live objects that belong to the key. */
  readonly adopted: readonly Ref[];
  readonly did: "refused" | "salvaged" | "voided" | "fresh" | "reconnecting" | "cleaning" | "nothing";
  readonly returning?: Returning | undefined;
};

export type Labels = Readonly<Record<string, string>>;

export type World = {
  readonly cluster: Cluster;
  readonly checkpoints: Checkpoints;
  readonly queue: Queue;
  readonly clock: Clock;
  /** Absent: no kind here needs random secrets. */
  readonly chance?: Chance;
  readonly report: Report;
  /** Runs the work of a message within its trace, so that logs and sent messages carry it; absent: just runs it. */
  readonly within?: <T>(message: Message, work: () => Promise<T>) => Promise<T>;
  /** Receives metric samples; absent: none are recorded. */
  readonly meter?: Meter;
  readonly operatorOf: (kind: string) => Operator<unknown> | undefined;
  /** UID of the cluster's kube-system namespace. */
  readonly clusterUid: string;
  readonly timing: Timing;
  /** Absent: the defaults of `settings.ts`. */
  readonly recovery?: RecoverySettings;
  /** The recovery that a user asks for, also if the record is sound. */
  readonly ask?: RecoveryRequest;
  /** Called with the finding of a recovery. */
  readonly found?: (key: Key, finding: Finding) => void;
  /** Called with each effect that was done. */
  readonly witness?: (key: Key, effect: Effect) => void;
  /**
   * True if this deployment is in charge of the key. `labels` are the object's, or those it had when it was last read;
   * undefined before the first read. Absent: in charge of everything.
   */
  readonly inCharge?: (key: Key, labels: Labels | undefined) => boolean | Promise<boolean>;
  /**
   * Returns why nothing of this kind may be written now, and the wall clock, epoch ms; undefined: it may. Absent: no
   * other controller is looked for.
   */
  readonly standby?: (kind: string) => Promise<{ readonly why: string; readonly now: number } | undefined>;
  /** Limits the number of parallel submissions in this process; absent: no limit. */
  readonly turns?: Slots;
  /** Limits the number of parallel steps that create many objects, of kinds whose watch answers reads; absent: no limit. */
  readonly creators?: Slots;
  /** Bounds the share of a namespace where the queue knows no namespaces; absent: the queue lets them take turns. */
  readonly share?: NamespaceShare;
  /** Limits the cost of one decision for other keys; absent: no limit. */
  readonly quarantine?: Quarantine;
  /** The listeners to status updates; absent: none. */
  readonly updates?: Updates;
  /** Called at the end of each step of a batch; absent: steps are measured elsewhere. */
  readonly ended?: (step: EndedStep) => void;
  /** Takes a step of a delivery key, if this process delivers updates. */
  readonly deliver?: (message: Message) => Promise<Ending>;
  /** Takes a notice about a node, if this process acts on notices. */
  readonly notice?: (message: Message) => Promise<Ending>;
  /** Takes the eviction of a pod, if a bell tells of evictions. */
  readonly evicted?: (message: Message) => Promise<Ending>;
  /** The cache of this process; absent: none. */
  readonly cache?: StepCache;
  /** Returns what the call of a dispatcher encloses for a key; absent: nothing. */
  readonly enclosed?: (key: Key) => Enclosure | undefined;
  /** Returns the latest reading of the API server's clock; without one, an enclosure is not believed. */
  readonly serverTime?: () => Epoch | undefined;
  /**
   * Returns the receiver of the recording of a decision about this object at `now`, epoch ms; undefined if it is not
   * recorded. Absent: nothing is recorded.
   */
  readonly recording?: (key: Key, object: Stored | undefined, now: number) => KeepRecording | undefined;
  /** Shadow mode: receives each plan, and its object unless that is gone; the plan is not carried out. */
  readonly shadow?: (key: Key, plan: Plan<unknown>, object: Stored | undefined) => void;
};

/** A step of a batch that has ended. */
export type EndedStep = {
  readonly message: Message;
  /** Undefined: the step threw. */
  readonly ending: Ending | undefined;
  readonly tookMs: number;
  /** The time at which the queue took the oldest of its messages, epoch ms; undefined: not known. */
  readonly sentAt: number | undefined;
};

/** The end of a step. Each of these acknowledges the message; a step that throws does not. */
export type Ending =
  | { readonly did: "nothing"; readonly why: string }
  | { readonly did: "step"; readonly writes: number }
  | { readonly did: "raced" }
  | { readonly did: "stopped"; readonly why: string }
  | { readonly did: "troubled"; readonly reason: string; readonly message: string };

/** Runs the work of a message within its trace, if it has one. */
export const withTrace = <T>(
  { within }: Pick<World, "within">,
  message: Message,
  work: () => Promise<T>,
): Promise<T> => (within === undefined ? work() : within(message, work));

/** The state of a key before any decision. */
export type Observation = {
  /** The object that the memory is about; undefined if it is gone or another object has its name. */
  readonly object: Stored | undefined;
  /** True if another object has the name. Its own steps begin when the record of the old object is settled. */
  readonly successor: boolean;
  /** UID of that other object. */
  readonly replacementUid?: string;
  readonly uid: string;
  readonly record: CheckpointRecord | undefined;
  readonly version: Version | undefined;
  /** No record was read: the step assumes that there is none. The first save succeeds only if that is true. */
  readonly assumedNew: boolean;
  /** Set if object and record, or a new object, come from this process's cache: see reads/. */
  readonly cachedAt?: Epoch;
  /** The reading of the server's clock by a live read, at a time when it had been answered: it never runs ahead. */
  readonly answered?: Epoch;
  /** The record comes from this process's cache, and the object from a live read. */
  readonly recordCached?: true;
  /** The watch may answer queries of decisions: see reads/freshness.ts. */
  readonly fromCache?: true;
  /** The object and the lists that the call encloses: see reads/enclosed.ts. */
  readonly enclosure?: Enclosure;
  readonly memory: unknown;
  readonly now: number;
  /**
   * The recovery window, in which a missing object may still appear: from the record, or because the object has a
   * status but no record.
   */
  readonly returning: Returning | undefined;
};

/** A record that cannot be used as it is, and the object of its name. */
export type BrokenRecord = {
  readonly defect: Defect;
  readonly version: Version | undefined;
  readonly object: Stored | undefined;
  readonly now: number;
};

export type FirstRead =
  | { readonly see: "observation"; readonly observation: Observation }
  | { readonly see: "nothing" }
  | { readonly see: "broken"; readonly brokenRecord: BrokenRecord };

/** The message is a timer of an earlier plan, by the record that was read: there is nothing to do. */
export type OutdatedTimer = { readonly see: "outdated timer"; readonly version: Version };

export const objectRef = (key: Key, operator: Operator<unknown>): Ref => ({
  resource: operator.resource,
  namespace: key.namespace,
  name: key.name,
});

/** Reports the metric samples of a status that a step has written. */
export const meterStatus = (
  { world, operator, observation }: StepContext,
  object: Stored,
  status: Readonly<Record<string, unknown>>,
): void => world.meter?.(operator.measuresOf?.(object, status, observation.now) ?? []);

/** Builds the observation of a usable record and of the object that has the key's name. */
export const observationOf = (
  record: CheckpointRecord,
  { version, object, memory, now }: Pick<Observation, "version" | "object" | "memory" | "now">,
): Observation => {
  const same = object?.metadata.uid === record.uid;
  return {
    object: same ? object : undefined,
    successor: object !== undefined && !same,
    ...(object === undefined || same ? {} : { replacementUid: object.metadata.uid }),
    uid: record.uid,
    record,
    version,
    assumedNew: false,
    memory,
    now,
    returning: record.returning,
  };
};

/** Returns the length of the recovery window of this object, ms. */
export const returnMsOf = (world: World, operator: Operator<unknown>, object: Stored): number =>
  operator.recovery?.returnMs?.(object) ?? recoveryOf(world).returnMs;

/** The record as the step has last stored it; a save replaces it. */
export type StoredRecord = { readonly record: CheckpointRecord | undefined; readonly version: Version | undefined };

/**
 * A plan as the engine carries it out. `closing`: "cleanup" if the plan completes a cleanup order, "updates" if only
 * undelivered updates keep the record.
 */
export type StepPlan = Plan<unknown> & { readonly closing?: "cleanup" | "updates" };

export type StepContext = {
  readonly world: World;
  readonly message: Message;
  readonly operator: Operator<unknown>;
  readonly observation: Observation;
  /** Monotonic time at which the step began. */
  readonly began: number;
  /** Monotonic time of `observation.now`, or earlier: the time of the first read, or that of the cached answer. */
  readonly looked: number;
  /** True when the step has read again because the first attempt took too long. */
  readonly slow?: boolean;
  /** True when the step has read again because another writer changed an object between its read and its patch. */
  readonly again?: boolean;
  /** The plan whose status was written before its effects, as the lock. */
  readonly shown?: Plan<unknown>;
  /** The step's submission slot; absent if the number of parallel submissions is not limited. */
  readonly turn?: Slot | undefined;
  /** The step's slot among those that create many objects; absent if their number is not limited. */
  readonly creator?: Slot | undefined;
  /** The objects that this step has created so far, by the text of their reference. */
  readonly created?: Map<string, Stored>;
};

/** The reading of the server's clock that the step's observation rests on. */
export const epochOf = ({ observation: { cachedAt, answered, now }, looked }: StepContext): Epoch =>
  cachedAt ?? answered ?? { date: now, at: looked };

/**
 * Returns the server's present time, epoch ms. Since the first read a step may have waited for answers, or its process may
 * have stood still.
 */
export const presentTime = (run: StepContext): number => dateAt(epochOf(run), run.world.clock.monotonic());

/** Returns the dependencies of this step's appliers; `until` is the fence, monotonic. */
export const applyContextOf = (
  { world, operator, observation, message, created }: StepContext,
  until: number,
): ApplyContext => {
  const { trace } = message;
  const { cluster, checkpoints, clusterUid, clock, chance } = world;
  const { component } = operator;
  const about = { now: observation.now, component, trace: trace === undefined ? trace : idOf(trace) };
  const made: ApplyContext["made"] = (resource, object) => {
    const { name, namespace } = object.metadata;
    created?.set(refText({ resource, name, ...(namespace === undefined ? {} : { namespace }) }), object);
    world.cache?.made(message, resource, object);
  };
  const keeping = { cluster, checkpoints, clusterUid, key: message, uid: observation.uid, now: observation.now };
  // Loaded with the first log that is kept.
  const keepLog: ApplyContext["keepLog"] = async (effect) =>
    (await import("../cluster/kept-logs.ts")).keepLog(keeping, effect);
  return { cluster, clock, chance, until, ...about, made, keepLog };
};
