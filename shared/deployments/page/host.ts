/**
 * The page beside the HTTP API. On a host its rows come from the host's own watches and saves; the records of before
 * are listed once, when somebody looks for the first time. In the api function and a dispatcher nothing watches:
 * objects and records are listed while somebody looks, at most once in five seconds for all viewers of the process.
 * Pods are read with the application that somebody opens.
 */
import { checkpointResource } from "../../adapters/checkpoints/kubernetes.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import type { Resource, Stored } from "../../core/object.ts";
import type { Report } from "../../engine/ports.ts";
import { everyKind } from "../../inspection/kinds/all.ts";
import { openRates, type Rates } from "../../inspection/rates.ts";
import { recordsIn } from "../../inspection/record.ts";
import { podGroups, queues } from "../../volcano/schema/resource.ts";
import type { SignIn } from "../common/sign-in.ts";
import { tableIn } from "../read-api/reader.ts";
import type { Configuration } from "../settings/table.ts";
import { type Board, openBoard } from "./board.ts";
import type { PageParts } from "./routes.ts";

/** The shortest time between two lists, ms. */
const shortestMs = 5_000;
/** Lists take at most a tenth of the time: where they are long, they are rare. */
const share = 10;

/** An object as it was listed; of a deleted one the board gets only this. */
type Known = Pick<Stored, "apiVersion" | "kind" | "metadata">;

type Settings = {
  readonly transport: Transport;
  readonly board: Board;
  readonly rates?: Rates | undefined;
  readonly report: Report;
  /** False: records are in a table, and only those of opened applications are read. */
  readonly hasRecords: boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
};

export type BoardFreshness = {
  /** Resolves when the board is as fresh as it may be. */
  fresh(): Promise<void>;
  ready(): boolean;
};

/** Kinds that are not installed, or that this account may not list, have no objects here. */
const isAbsent = (cause: unknown): boolean =>
  cause instanceof ApiError && (cause.status === 404 || cause.status === 403);

const prefix = "rekindle.dev/";
/** No name of an object is longer. */
const longestValue = 253;

/** Keeps the labels or annotations that name the application of a record; a tenant may have written any others. */
const naming = (texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(texts).filter(([name, text]) => name.startsWith(prefix) && text.length <= longestValue),
  );

/** Returns the part of a listed object by which the board knows it when it is deleted. */
export const kept = ({ apiVersion, kind, metadata }: Stored): Known => {
  const { name, namespace = "", uid, resourceVersion, labels = {}, annotations = {} } = metadata;
  if (kind !== checkpointResource.kind)
    return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
  return {
    ...{ apiVersion, kind },
    metadata: { name, namespace, uid, resourceVersion, labels: naming(labels), annotations: naming(annotations) },
  };
};

/** Lists a resource into the board: what has another version, and what is gone. Returns what is known then. */
const listed = async (
  { transport, board }: Settings,
  resource: Resource,
  before: ReadonlyMap<string, Known>,
): Promise<ReadonlyMap<string, Known>> => {
  const after = new Map<string, Known>();
  try {
    for await (const { items } of pages(transport, { resource }))
      for (const item of items) {
        const { uid, resourceVersion } = item.metadata;
        if (before.get(uid)?.metadata.resourceVersion !== resourceVersion) board.see(item);
        after.set(uid, kept(item));
      }
  } catch (cause) {
    if (!isAbsent(cause)) throw cause;
  }
  for (const [uid, known] of before) if (!after.has(uid)) board.gone(known);
  return after;
};

export const openPolling = (settings: Settings): BoardFreshness => {
  const { report, rates, hasRecords, now } = settings;
  const resources = [
    ...everyKind.map(({ resource }) => resource),
    ...(hasRecords ? [checkpointResource] : []),
    queues,
    podGroups,
  ];
  const known = new Map<Resource, ReadonlyMap<string, Known>>();
  let dueAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    const began = now();
    try {
      // Before the records, so that their executors have the prices of their nodes.
      await rates?.refresh();
      for (const resource of resources)
        known.set(resource, await listed(settings, resource, known.get(resource) ?? new Map()));
    } catch (cause) {
      report("warn", "the page cannot list objects, and shows what it listed before", { error: String(cause) });
    }
    const ended = now();
    dueAt = ended + Math.max(shortestMs, (ended - began) * share);
    reading = undefined;
  };
  return {
    ready: () => known.size === resources.length,
    fresh: () => {
      if (now() >= dueAt) reading ??= read();
      return reading ?? Promise.resolve();
    },
  };
};

export type ServedPage = Pick<
  PageParts,
  "cluster" | "viewed" | "ready" | "standing" | "depth" | "fresh" | "isStreamed"
> & {
  readonly board: Board;
  readonly transport: Transport;
  readonly table: ReturnType<typeof tableIn>;
  /** Undefined: no prices are set. */
  readonly rates: Rates | undefined;
  readonly signIn: SignIn;
  readonly report: Report;
  /** Namespace of Commands for queues. */
  readonly commandNamespace: string;
  /** An answer about one application is read again after this time, ms, also without a change; absent: the usual. */
  readonly freshMs?: number;
};

/** A namespace from which Commands for queues are obeyed; "": there is none. */
const placeOfCommands = ([first = ""]: readonly string[]): string => (first === "*" ? "default" : first);

/** Opens the page of a host, without a request. */
export const openHostPage = (
  { cluster, checkpoints, namespaces, prices, queueCommandNamespaces }: Configuration,
  transport: Transport,
  signIn: SignIn,
  report: Report,
): ServedPage => {
  const rates = openRates(transport, prices, () => performance.now());
  const board = openBoard(Date.now, rates);
  const places = namespaces.length === 0 ? [""] : namespaces;
  let isRead = false;
  const readRecords = async (): Promise<void> => {
    try {
      await rates?.refresh();
      for (const place of places) await board.remember(await recordsIn({ transport }, place));
    } catch (cause) {
      isRead = false;
      report("warn", "the page cannot list records, and tries again with the next viewer", { error: String(cause) });
    }
  };
  return {
    ...{ board, cluster, transport, signIn, table: tableIn(checkpoints, cluster) },
    ...{ rates, report, commandNamespace: placeOfCommands(queueCommandNamespaces) },
    ready: () => true,
    isStreamed: true,
    viewed: () => {
      // Records in a table are read one by one, with the application that somebody opens.
      if (isRead || checkpoints.in !== "kubernetes") return;
      isRead = true;
      void readRecords();
    },
  };
};

type Elsewhere = {
  readonly settings: Pick<Configuration, "cluster" | "checkpoints" | "prices" | "queueCommandNamespaces">;
  readonly transport: Transport;
  readonly signIn: SignIn;
  readonly report: Report;
};

/** Without a watch, a change of pods is seen only by a read: about as often as a viewer polls. */
const polledFreshMs = 1_500;

/** Opens the page of the api function or a dispatcher, without a request. A standby dispatcher shows it, too. */
export const openFunctionPage = ({ settings, transport, signIn, report }: Elsewhere): ServedPage => {
  const { cluster, checkpoints, prices, queueCommandNamespaces } = settings;
  const rates = openRates(transport, prices, () => performance.now());
  const board = openBoard(Date.now, rates);
  const hasRecords = checkpoints.in === "kubernetes";
  const { fresh, ready } = openPolling({ transport, board, rates, report, hasRecords, now: () => performance.now() });
  return {
    ...{ board, cluster, transport, signIn, table: tableIn(checkpoints, cluster), fresh, ready },
    ...{ rates, report, commandNamespace: placeOfCommands(queueCommandNamespaces) },
    isStreamed: false,
    freshMs: polledFreshMs,
  };
};
