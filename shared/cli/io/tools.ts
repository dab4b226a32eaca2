/**
 * The ports of the commands: a connection, a terminal, and functions of other rooms; and the failures of a command,
 * each with one line that says what to type next.
 */
import type { TableCheckpoints } from "../../adapters/dynamodb/checkpoints.ts";
import type { Local, PortForward, PortForwardTarget } from "../../adapters/kubernetes/port-forward.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { Effect, Next } from "../../core/plan.ts";
import { oneLine } from "../../core/text.ts";
import type { Prices } from "../../kube/prices.ts";
import type { Paint } from "./text.ts";

/** A table that holds the records, in place of objects beside their applications. */
export type RecordTable = {
  readonly name: string;
  /** Alias of the cluster: its records are a partition. */
  readonly cluster: string;
  readonly records: TableCheckpoints;
};

/** A `RecordTable` that is only read. */
export type ReadTable = Omit<RecordTable, "records"> & { readonly records: Pick<TableCheckpoints, "load"> };

/** The source of one application and its record; without a table, records are objects of the cluster. */
export type Source = {
  readonly transport: Transport;
  readonly table?: ReadTable | undefined;
  /** Returns one line per sign of another controller of an API group's kinds; none if the caller's rights are too few. */
  readonly controllers?: ((group: string) => Promise<readonly string[]>) | undefined;
};

/** A connection to the cluster of a kubeconfig. */
export type Session = {
  readonly transport: Transport;
  readonly server: string;
  /** PEM text of the server's certificate authority; absent: those that the machine trusts. */
  readonly authority?: string | undefined;
  /** Name of the kubeconfig's context; undefined inside a pod. */
  readonly context: string | undefined;
  /** The context's namespace. */
  readonly namespace: string | undefined;
  /** Absent: records are objects of the cluster. */
  readonly table?: RecordTable | undefined;
  readonly controllers?: Source["controllers"];
  /** Namespaces in which signs of other controllers count; absent: the usual ones. */
  readonly controllerNamespaces?: readonly string[] | undefined;
  /** Absent: no money is shown. */
  readonly prices?: Prices | undefined;
  /** Opens a port of this machine that leads to a pod's. */
  passage(leading: PortForwardTarget, local: Local): Promise<PortForward>;
  close(): void;
};

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

/** The objects that a recorded decision read. `at`: the API server's clock, epoch ms. */
export type SeenByDecision = {
  readonly at: number;
  readonly object: Stored | undefined;
  /** The pods among the answers to its reads. */
  readonly pods: readonly Stored[];
  /** The phase that its plan saves; "" for a kind without one. */
  readonly phase: string;
};

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

/** Rekindle's view of an object that it does not run, or not yet. */
export type Forecast = {
  /** The reason for which its next submission would be refused. */
  readonly refused: string | undefined;
  /** Fields of the object that Rekindle understands differently, and those without effect. */
  readonly notes: readonly string[];
};

export type Rendered =
  | { readonly objects: readonly Obj[]; readonly notes: readonly string[] }
  | { readonly refused: string };

/** A row of the tables of timeouts and policies, with the kind that may ask for it. */
export type Policy = Readonly<Record<"kind" | "annotation" | "default" | "range" | "meaning", string>>;

/** The meaning of an upstream controller's flag for Rekindle. */
export type FlagView = { readonly is: "taken" | "ignored" | "refused"; readonly says: string };

/** Attempt and UID of a rendered application, and the settings of the host. */
export type Rendering = { readonly attempt: number; readonly uid: string; readonly settings: readonly string[] };

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
  flag(text: string, family: "spark" | "volcano"): Promise<FlagView>;
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

/** The exit codes of a command that was understood and could not be done. */
export const exits = { refused: 1, applicationFailed: 3, timeOver: 4 } as const;

/** A command that cannot do its work, with the reason. Ends the program with its exit code. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: number;

  constructor(message: string, options: ErrorOptions & { readonly code?: number } = {}) {
    super(message, options);
    this.code = options.code ?? exits.refused;
  }
}

type Advice = { readonly when: (error: ApiError) => boolean; readonly say: (error: ApiError, at: string) => string };

const install = "rekindle manifests | kubectl apply --server-side -f -";

/** The server does not know the resource at all: its CRD is not installed. */
export const notServed = (error: ApiError): boolean => error.status === 404 && error.message.includes("does not serve");

const advice: readonly Advice[] = [
  // The message of a record table already says what to change. It does not come from the API server.
  { when: ({ reason }) => reason.startsWith("Store"), say: ({ message }) => message },
  {
    when: (error) => error.status === 0 && error.reason !== "BadAnswer",
    say: (error, at) => `cannot reach the API server${at}: ${error.message}; is it up, and is it the right --context?`,
  },
  {
    when: (error) => error.status === 401,
    say: (_, at) => `the API server${at} does not know who you are; log in again or choose another --context`,
  },
  {
    when: (error) => error.status === 403,
    say: (error) => `${error.message}; ask for this right, or choose a namespace that you may see with -n NAME`,
  },
  { when: notServed, say: (error) => `${error.message} Install with: ${install}` },
];

/** The line for an error of the API server; `at` names the server when it is known. */
export const adviceOn = (error: ApiError, session?: Pick<Session, "server">): string => {
  const at = session === undefined ? "" : ` at ${session.server}`;
  return advice.find(({ when }) => when(error))?.say(error, at) ?? error.message;
};

/** One line for anything that was thrown. */
export const lineOf = (cause: unknown): string => {
  const text = cause instanceof ApiError ? adviceOn(cause) : cause instanceof Error ? cause.message : String(cause);
  return oneLine(text);
};
