/** The world of a step: its ports, the kinds that it knows, and its settings. */
import type { Key, Message } from "../../core/key.ts";
import type { Meter } from "../../core/metric.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Effect, Plan } from "../../core/plan.ts";
import type { Epoch } from "../../core/time.ts";
import type { StepCache } from "../cache.ts";
import type { NamespaceShare } from "../namespace-share.ts";
import type { Chance, Checkpoints, Clock, Cluster, Enclosure, Queue, Report, Updates } from "../ports.ts";
import type { Quarantine } from "../quarantine.ts";
import type { KeepRecording } from "../recording/capture.ts";
import type { Finding, RecoveryRequest } from "../recovery-request.ts";
import type { RecoverySettings, Timing } from "../settings.ts";
import type { SubmissionSlots } from "../submission-slots.ts";

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
  /** Limits the number of parallel submissions in this process; absent: no limit. */
  readonly turns?: SubmissionSlots;
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
export const along = <T>({ within }: Pick<World, "within">, message: Message, work: () => Promise<T>): Promise<T> =>
  within === undefined ? work() : within(message, work);
