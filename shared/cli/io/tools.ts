/** The ports of the commands: a terminal, connections, and functions of other rooms. */
import type { Key } from "../../core/key.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { Effect, Next } from "../../core/plan.ts";
import type { Session } from "../../inspection/io/session.ts";
import type { Paint } from "../../inspection/io/text.ts";
import type { SeenByDecision } from "../../inspection/sweep-case.ts";
import type { Direction } from "../../kube/api-move.ts";
import type { Forecast, Rendered, Rendering } from "../../kube/forecast.ts";
import type { Family } from "../../kube/resources.ts";

export type ServerChoice = {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Address of the API server, in place of the kubeconfig's. */
  readonly server?: string | undefined;
};

/** The decision of the next step of a key, without applying it. */
export type Preview =
  | {
      readonly would: "plan";
      readonly stages: readonly (readonly Effect[])[];
      readonly status: Readonly<Record<string, unknown>> | undefined;
      readonly memory: unknown;
      readonly waitsFor: string | undefined;
      readonly wakeAt: number | undefined;
      readonly again: boolean;
    }
  | { readonly would: "nothing"; readonly why: string }
  /** Its checkpoint cannot be used. */
  | { readonly would: "stop"; readonly why: string };

/** A recorded decision that was taken again, or a line whose recording cannot be read. */
export type Replayed =
  | {
      readonly is: "decision";
      readonly key: Key;
      /** The API server's clock at the decision, epoch ms. */
      readonly at: number;
      /** The number of its reads. */
      readonly reads: number;
      readonly effects: readonly Effect[];
      readonly waitsFor: string | undefined;
      readonly next: Next["do"];
      /** The first difference between the recording and this version's decision; undefined: they are the same. */
      readonly difference:
        | { readonly path: string; readonly recorded: unknown; readonly replayed: unknown }
        | undefined;
      readonly seen: SeenByDecision;
    }
  | { readonly is: "refused"; readonly line: number; readonly why: string };

/** A row of the tables of timeouts and policies, with the kind that may ask for it. */
export type Policy = Readonly<Record<"kind" | "annotation" | "default" | "range" | "meaning", string>>;

/** The meaning of an upstream controller's flag for Rekindle. */
export type FlagView = { readonly is: "taken" | "ignored" | "refused"; readonly says: string };

/** Options of a recovery; times in ms where their names say so. */
export type RecoverHow = {
  readonly strict: boolean;
  readonly mode: "reconnect" | "cleanup";
  readonly fresh: boolean;
  readonly reconfigure: boolean;
  /** Recovers although another controller leads these kinds. */
  readonly coexist: boolean;
  readonly returnMs?: number;
  readonly graceSeconds: number;
  readonly waitMs: number;
  readonly dryRun: boolean;
};

/** The result of the recovery of one key. */
export type Recovered = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The state of its record, in a word and in a sentence. */
  readonly record: string;
  readonly why: string;
  readonly did: string;
  /** Fields that were kept, and the problems of others. */
  readonly kept: readonly string[];
  readonly problems: readonly string[];
  readonly adopted: readonly string[];
  readonly ended: readonly string[];
  readonly refused: string | undefined;
  readonly configured: string | undefined;
  /** The unsettled matter that the key waits for. */
  readonly waitsFor: string | undefined;
};

/** A copy of records from one store into another; stores as settings write them. */
export type Move = {
  readonly from: string;
  readonly to: string;
  /** Alias of the cluster. */
  readonly cluster: string;
  /** Namespace of the Checkpoint objects of cluster-scoped keys. */
  readonly home: string;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  readonly remove: boolean;
  readonly dryRun: boolean;
};

/** The result for one record; in a dry run, the expected result. */
export type CopyResult = {
  readonly key: string;
  readonly did: "copied" | "there" | "removed" | "refused";
  readonly why?: string;
};

/** The choice of `rekindle page`: these namespaces (empty: all), and one application first. `port` 0: a free one. */
export type PageOptions = {
  readonly namespaces: readonly string[];
  readonly port: number;
  readonly key: Key | undefined;
  /** Gets a line for each action; undefined: the page only reads. */
  readonly acted: ((line: string) => void) | undefined;
};

/** A page of the documentation. `path`: from the package's root. */
export type Page = { readonly path: string; readonly text: string };

export type Tools = {
  readonly version: string;
  /** Reads a flag of an upstream's controller, written `--name=value`. */
  flag(text: string, family: Family): Promise<FlagView>;
  /** The kinds that hosts of this version run. */
  runs(): Promise<readonly string[]>;
  forecast(object: Stored): Promise<Forecast>;
  /** The timeouts and policies that applications may ask for by annotation. */
  policies(): Promise<readonly Policy[]>;
  connect(where: ServerChoice): Promise<Session>;
  /** Serves the page on this machine. The link opens a session, once. */
  page(session: Session, options: PageOptions): Promise<{ readonly link: string; close(): Promise<void> }>;
  preview(session: Session, key: Key): Promise<Preview>;
  /** Takes the recorded decisions in the lines of a log again. Needs no cluster. */
  replay(text: string): Promise<Iterable<Replayed>>;
  move(session: Session, move: Move): AsyncGenerator<CopyResult>;
  /** The directions in which running applications move, by the API group that they move to. */
  directions(): Promise<Readonly<Record<string, Direction>>>;
  /** Moves what lasts of a record to another key, whose object has this UID; safe to repeat. */
  carryRecord(session: Session, from: Omit<Key, "cluster">, to: Omit<Key, "cluster">, uid: string): Promise<void>;
  recover(session: Session, key: Key, how: RecoverHow): Promise<Recovered>;
  /** The objects that a submission of this application would create. Makes no request. */
  render(object: Obj, how: Rendering): Promise<Rendered>;
  /** Returns the reports of a submission of the object, as far as they need no cluster. */
  check(object: Obj): Promise<Forecast>;
  /** The texts of our CustomResourceDefinitions, one YAML document each. */
  crds(): Promise<readonly { readonly group: string; readonly text: string }[]>;
  pages(): Promise<readonly Page[]>;
  /** Runs the host with these arguments until it ends. Returns its exit code. */
  host(args: readonly string[]): Promise<number>;
  demo(args: readonly string[]): Promise<number>;
  /** Colours what is printed, where colours are wanted. */
  readonly paint: Paint;
  print(text: string): void;
  warn(text: string): void;
  /** Puts a question to the person at the terminal; false when there is none. */
  confirm(question: string): Promise<boolean>;
  now(): number;
  /** Rejects when the signal aborts it. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Resolves when the user presses Ctrl-C. */
  stopped(): Promise<unknown>;
  /** Reads standard input to its end. */
  stdin(): Promise<string>;
};
