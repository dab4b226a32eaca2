/**
 * The states of a kind and their meaning for people: what an object in a state waits for, what to do, how it ended, and the
 * health that tools show. The parts of a kind that status, list, page and health checks read.
 */
import type { Obj, Stored } from "../core/object.ts";
import { waitingText } from "../core/waiting-on.ts";
import { untilAdmitted } from "./kueue.ts";

/** The state of one object for `status` and `list`. */
export type ObjectState = {
  readonly state: string;
  readonly attempts: number | undefined;
  /** The error message in the object's status. */
  readonly message: string | undefined;
  /** Epoch ms of the last change that the object shows. */
  readonly since: number | undefined;
  /** Set when nothing more happens unless a user changes the object. */
  readonly ended: "well" | "badly" | undefined;
  readonly what: Advice;
};

/** The thing that an object waits for, and the advice for the user, as far as the state alone tells. */
export type Advice = { readonly waitsFor: string; readonly todo: string };

/** Further columns of a list by their heads; numbers are numbers in data. */
export type Cells = Readonly<Record<string, string | number>>;

export type ExecutorCount = {
  readonly running: number;
  /** Undefined where the driver's demand decides. */
  readonly wanted: number | undefined;
};

/** A health of Argo CD. A sync wave waits while an object is Progressing, and fails with one that is Degraded. */
export type Health = "Healthy" | "Progressing" | "Degraded" | "Suspended";

/** One state: what it waits for, what to do, how it ended, and its health. */
export type KindState = Advice & {
  readonly ended?: "well" | "badly";
  readonly health: Health;
  /** The fate of an object that a migration finds in this state, as text for people; absent: it is not forecast. */
  readonly adopted?: string;
};

export type KindStates = {
  /** The state does not tell whether an object has ended well or badly: its inspection does. */
  readonly endsByInspection?: true;
  /** Path of the state below the object, and of the text that says why; empty: there is none. */
  readonly stateAt: readonly string[];
  readonly messageAt: readonly string[];
  /** By the state; "" is an object that nobody has looked at. */
  readonly states: Readonly<Record<string, KindState>>;
};

/** A kind as the command line and the page show it. */
export type KindInspection = {
  /** Labels of the pods of one object. */
  readonly podLabels: (name: string) => Readonly<Record<string, string>>;
  readonly stateOf: (object: Obj) => ObjectState;
  /** The pod whose log tells most. */
  readonly mainPod: (object: Obj, pods: readonly Stored[]) => string | undefined;
  /** Heads and cells that `-o wide` shows beside the others: what upstream's columns show. */
  readonly wide: (object: Obj) => Cells;
  /** Its pods in a row of a list: those that run, and those that it wants; -1: not known. Absent: it has no pods of its own. */
  readonly podCount?: (object: Stored) => readonly [have: number, want: number];
  /** Absent: Kueue admits no object of its kind. */
  readonly kueue?: {
    /** The words where no Workload of an object exists. */
    readonly absence: string;
    /** The pod set of which objects ask for more quota while they run; absent: of none. */
    readonly grows?: string;
  };
  /** The executors of a driver or server that runs; absent, or undefined: it has none now. */
  readonly executors?: (object: Obj, pods: readonly Stored[]) => ExecutorCount | undefined;
  /** True while the object's pods wait until its PodGroup is admitted; absent: its kind has no PodGroup. */
  readonly awaitsGroup?: (object: Obj) => boolean;
  /** Whether the status shows all of the memory that upstream's controller would need; absent: it always does. */
  readonly isReported?: (memory: unknown, object: Stored) => boolean;
  /** Whether `spec.suspend` holds an object of this kind back. */
  readonly suspends: boolean;
};

export const quiet = "nothing: it continues by itself";
export const unseen: Advice = {
  waitsFor: "a host to look at it",
  todo: "if this lasts, no host is running: rekindle host, or kubectl get deployments -A -l app.kubernetes.io/name=rekindle",
};

/** The outlook of an object that Kueue is to start, in this LocalQueue. */
export const untilStarted = (queue: string, { metadata: { namespace = "default" } }: Obj): Advice => ({
  waitsFor: waitingText(untilAdmitted(queue)),
  todo: `nothing: Kueue starts it; what it waits for: kubectl describe workloads -n ${namespace}`,
});

/** The advice of a state; one that the kind does not know will end. */
export const adviceOf = ({ states }: KindStates, state: string, word: "state" | "phase"): Advice => {
  const { waitsFor, todo } = states[state] ?? { waitsFor: `the end of ${word} ${state}`, todo: quiet };
  return { waitsFor, todo };
};

/** How an object in this state ended; undefined: it goes on. */
export const endOf = ({ states }: KindStates, state: string): ObjectState["ended"] => states[state]?.ended;
