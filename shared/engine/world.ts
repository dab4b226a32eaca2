/** All that a step is given: the ports, the kinds it knows, and how it is to behave. */
import type { Key, Message } from "../core/key.ts";
import type { Meter } from "../core/metric.ts";
import type { Stored } from "../core/object.ts";
import type { Operator } from "../core/operator.ts";
import type { Effect, Plan } from "../core/plan.ts";
import type { Chance, Checkpoints, Clock, Cluster, Queue, Report, Updates } from "./ports.ts";
import type { Quarantine } from "./quarantine.ts";
import type { StepCache } from "./reads/cache.ts";
import type { Finding, RecoveryRequest } from "./recovery/request.ts";
import type { RecoverySettings, Timing } from "./settings.ts";
import type { SubmissionSlots } from "./submission-slots.ts";

export type Labels = Readonly<Record<string, string>>;

export type World = {
  readonly cluster: Cluster;
  readonly checkpoints: Checkpoints;
  readonly queue: Queue;
  readonly clock: Clock;
  /** Absent: no kind here needs secrets made. */
  readonly chance?: Chance;
  readonly report: Report;
  /** Runs what a message calls for, so that what is reported and sent meanwhile can be told to belong to it; absent: just runs it. */
  readonly within?: <T>(message: Message, work: () => Promise<T>) => Promise<T>;
  /** Where figures go; absent: nowhere. */
  readonly meter?: Meter;
  readonly operatorOf: (kind: string) => Operator<unknown> | undefined;
  /** UID of the cluster's kube-system namespace. */
  readonly clusterUid: string;
  readonly timing: Timing;
  /** Absent: the defaults of `settings.ts`. */
  readonly recovery?: RecoverySettings;
  /** Somebody asks for a recovery, though the record may be sound. */
  readonly ask?: RecoveryRequest;
  /** Told what a recovery found. */
  readonly found?: (key: Key, finding: Finding) => void;
  /** Told what was done. */
  readonly witness?: (key: Key, effect: Effect) => void;
  /**
   * Whether this deployment is in charge of the key. `labels` are the object's, or those it had when it was last seen;
   * undefined while nobody has looked. Absent: in charge of everything.
   */
  readonly inCharge?: (key: Key, labels: Labels | undefined) => boolean | Promise<boolean>;
  /** Bounds how many steps of this process submit at once; absent: as many as there are steps. */
  readonly turns?: SubmissionSlots;
  /** Bounds what one decision may cost all others; absent: nothing does. */
  readonly quarantine?: Quarantine;
  /** Who listens to status updates; absent: nobody. */
  readonly updates?: Updates;
  /** Takes a key under which updates are delivered, where this process delivers any. */
  readonly deliver?: (message: Message) => Promise<Ending>;
  /** Takes a notice that a node is about to go, where this process acts on any. */
  readonly notice?: (message: Message) => Promise<Ending>;
  /** What this process knows without asking; absent: nothing. */
  readonly cache?: StepCache;
  /** Shadow mode: given a plan and the object that it is about, unless that is gone: tell it instead of doing it. */
  readonly shadow?: (key: Key, plan: Plan<unknown>, object: Stored | undefined) => void;
};

/** How a step ended. Everything but `failed` is an acknowledged message. */
export type Ending =
  | { readonly did: "nothing"; readonly why: string }
  | { readonly did: "step"; readonly writes: number }
  | { readonly did: "raced" }
  | { readonly did: "stopped"; readonly why: string }
  | { readonly did: "troubled"; readonly reason: string; readonly message: string };

/** Runs what a message calls for, within its trace where there is one. */
export const along = <T>({ within }: Pick<World, "within">, message: Message, work: () => Promise<T>): Promise<T> =>
  within === undefined ? work() : within(message, work);
