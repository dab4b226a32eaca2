/** A subject: a controller's program, what it needs in the cluster, and the scripts by which users and pods try it. */
import type { ControlPlane, ControlPlaneOptions } from "../real/cluster/controlplane.ts";
import type { Fault } from "./faults.ts";
import type { PodPlan } from "./kubelet.ts";
import type { History } from "./world.ts";

/** Arguments of setpriv(1): the program ends with the process that started it, even by SIGKILL. */
export const endsWithParent = ["--pdeathsig", "KILL"] as const;

export type Program = { readonly command: readonly string[]; readonly env?: Readonly<Record<string, string>> };

/** The tools of a script's step: create, read and change the user's objects, and wait for pods; never for status or time. */
export type User = {
  readonly namespace: string;
  readonly create: (object: object) => Promise<void>;
  readonly get: (path: string) => Promise<unknown>;
  readonly patch: (path: string, body: object) => Promise<void>;
  /** `isForced`: at once, as the garbage collector of pods removes those of a node that is gone. */
  readonly remove: (path: string, isForced?: boolean) => Promise<void>;
  /** Resolves when the history has pods of this phase: as many as `count`, gone ones included. */
  readonly pods: (phase: string, count: number) => Promise<void>;
};

export type Step = { readonly name: string; readonly does: (user: User) => Promise<void> };

export type Scenario = {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Path of the object that is judged, below its namespace: `apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME`. */
  readonly object: (namespace: string) => string;
  /** Ends that the subject's documentation allows under some faults, beside those of runs without fault. */
  readonly allowed?: (fault: Fault) => readonly string[];
  /** Paths of further objects of the user, which are deleted after it. */
  readonly beside?: (namespace: string) => readonly string[];
  /** `nth`: 1 for the first pod of this name or attempt. */
  readonly planOf: (pod: unknown, nth: number) => PodPlan;
};

/** A subject's own rows: what an attempt is, what an end is, and what the status must not say of these pods. */
export type Rows = {
  /** The attempt, and the place in it, of which only one pod may be active; empty: no matter. */
  readonly attemptOf: (pod: unknown) => string;
  /** The end that the user sees, in one line; an object that is gone is undefined. */
  readonly endOf: (object: unknown, history: History) => string;
  /** True for an end after which nothing more happens; a run that rests elsewhere is stuck. */
  readonly isFinal: (object: unknown) => boolean;
  readonly untrue: (object: unknown, history: History) => readonly string[];
  /** Resources of which nothing may be left after the object's deletion, beside pods, services, configmaps and secrets. */
  readonly leftovers: readonly string[];
};

export type Accounts = { readonly namespace: string; readonly accounts: readonly string[] };

export type Subject = {
  readonly name: string;
  /** Flags of parts of the control plane, e.g. to leave a controller out that the subject replaces. */
  readonly planeFlags?: ControlPlaneOptions["extra"];
  /** Installs definitions and rights; returns the names and the namespace of the controller's accounts. */
  readonly install: (plane: ControlPlane) => Promise<Accounts>;
  /** The program; `kubeconfigOf` has the file with the token of an account, which leads through the proxy. */
  readonly program: (kubeconfigOf: (account: string) => string) => Program;
  /** True for a program of several processes, of which one alone can die. */
  readonly hasParts?: true;
  /** A program that runs beside the controller, straight at the API server, and is never struck: a scheduler. */
  readonly beside?: (kubeconfig: string) => Program;
  readonly version: () => Promise<string>;
  readonly rows: Rows;
  readonly scenarios: readonly Scenario[];
};
