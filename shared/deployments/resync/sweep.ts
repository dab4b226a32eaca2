/**
 * One resync: pages the metadata of objects and records, and sends the keys that need a step. A process runs one after
 * another: at once, then at an interval, and sooner after a failed one.
 */
import { checkpointResource, hintOf } from "../../adapters/checkpoints/kubernetes.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { textOf } from "../../core/key.ts";
import { marksOf } from "../../core/marks.ts";
import type { Metadata, Resource, Stored } from "../../core/object.ts";
import type { Operator, Watch } from "../../core/operator.ts";
import { errorText } from "../../core/text.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import { startRounds } from "../../forward/pause.ts";
import {
  agedLogsOf,
  type Due,
  dueOf,
  type Hint,
  type ListedObject,
  place,
  undeliveredOf,
} from "../../forward/resync.ts";

import type { Unheard, UnheardBoard } from "../../forward/unheard.ts";
import type { NamespaceScope, Scope } from "../common/namespaces.ts";
import type { Records } from "../common/records.ts";

/** The scope of a resync. A record whose object the selector does not select is sent, too; its step does nothing. */
export type ResyncScope = Scope & {
  readonly transport: Transport;
  /** Hints of the records; absent: records are `Checkpoint` objects, and their metadata is read. */
  readonly hints?: Records["hints"];
  readonly queue: Pick<Queue, "send">;
  readonly operators: readonly (Pick<
    Operator<unknown>,
    "kind" | "resource" | "optional" | "scope" | "field" | "founds" | "settled"
  > & {
    readonly watches?: readonly Watch[];
  })[];
  /** Narrows `namespaces`. */
  readonly within?: NamespaceScope["within"];
  /** True: status updates are delivered, so unacknowledged ones are sent, too. */
  readonly updates?: boolean;
  /** Epoch ms; absent: this machine's. */
  readonly now?: () => number;
  /** Yields to the event loop when it was held for long; absent: never. */
  readonly breathe?: () => Promise<void>;
};

/** Limits of a run that must end in time and goes on where another run stopped. */
export type Limits = {
  /** True when nothing new may begin. */
  readonly late: () => boolean;
  /** The key after which to begin; those before it come last. */
  readonly after: string | undefined;
};

/**
 * Counts of keys that were sent and left. `next`: the key after which the next run begins; undefined: none are left.
 * `unheard`: changes that no step has taken notice of.
 */
export type Swept = {
  readonly sent: number;
  readonly left: number;
  readonly next: string | undefined;
  readonly unheard: readonly Unheard[];
};

type Chosen = {
  readonly selector?: string | undefined;
  readonly field?: string | undefined;
  readonly metadataOnly?: boolean;
};

/** Lists objects, and keeps of each what `part` returns. */
const partsOf = async <Part>(
  { transport, namespaces }: Pick<ResyncScope, "transport" | "namespaces">,
  resource: Resource,
  chosen: Chosen,
  late: () => boolean,
  part: (item: Stored) => Part | undefined,
): Promise<readonly Part[]> => {
  const found: Part[] = [];
  for (const namespace of namespaces.length === 0 ? [""] : namespaces) {
    for await (const page of pages(transport, { resource, namespace, ...chosen })) {
      for (const item of page.items) {
        const kept = part(item);
        if (kept !== undefined) found.push(kept);
      }
      if (late()) throw new Error(`the time of a resync is over before ${resource.plural} are listed: give it more`);
    }
  }
  return found;
};

/** Returns the hints of the records without reading the records; with a selector, of some at least. */
export const hintsIn = async (
  where: Pick<ResyncScope, "transport" | "namespaces" | "hints">,
  late: () => boolean = () => false,
  selector?: string,
): Promise<readonly Hint[]> =>
  (await where.hints?.(where.namespaces)) ??
  (await partsOf(where, checkpointResource, { selector, metadataOnly: true }, late, ({ metadata }) =>
    hintOf(metadata),
  ));

/** Returns the listing; undefined where the server does not serve the kind. */
const ifServed = async <Found>(list: () => Promise<Found>): Promise<Found | undefined> => {
  try {
    return await list();
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 404) return undefined;
    throw cause;
  }
};

/** Keeps what tells whether an object needs a step, of possibly a hundred thousand. */
const briefly = (metadata: Metadata): ListedObject => {
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp } = metadata;
  return {
    name,
    marks: marksOf(metadata),
    ...(uid === undefined ? {} : { uid }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(generation === undefined ? {} : { generation }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  };
};

/**
 * Lists the objects of a kind; undefined where the server does not serve an optional kind, and for a cluster-scoped
 * kind where the scope has named namespaces. A kind with records was served once: a single 404 must not leave them to
 * the next resync.
 */
const objectsOf = async (
  scope: ResyncScope,
  { resource, optional = false, scope: reach, field, settled }: ResyncScope["operators"][number],
  { late, isRecorded }: { readonly late: () => boolean; readonly isRecorded: boolean },
): Promise<readonly ListedObject[] | undefined> => {
  if (reach === "Cluster" && scope.namespaces.length > 0) return undefined;
  const selector = reach === "Cluster" ? undefined : scope.selector;
  const unsettled = ({ metadata }: Stored): ListedObject | undefined =>
    settled?.(metadata) === true ? undefined : briefly(metadata);
  const list = () => partsOf(scope, resource, { selector, field, metadataOnly: true }, late, unsettled);
  if (!optional) return await list();
  return (await ifServed(list)) ?? (isRecorded ? await ifServed(list) : undefined);
};

/**
 * Finds the owners of objects that wait for a step of their owner (`Watch.errand`): an owner at rest whose message was
 * lost would not see them. A resource that several kinds watch is listed once.
 */
const errandsIn = (scope: ResyncScope, late: () => boolean) => {
  const listed = new Map<Resource, readonly Stored[]>();
  const waiting = async (resource: Resource): Promise<readonly Stored[]> => {
    const list = () => partsOf(scope, resource, {}, late, (item) => item);
    const found = listed.get(resource) ?? (await ifServed(list)) ?? (await ifServed(list)) ?? [];
    listed.set(resource, found);
    return found;
  };
  return async ({ scope: reach, watches = [] }: ResyncScope["operators"][number]): Promise<ReadonlySet<string>> => {
    const owners = new Set<string>();
    for (const { resource, ownerName } of watches.filter(({ errand }) => errand))
      for (const item of await waiting(resource))
        owners.add(place(reach === "Cluster" ? "" : item.metadata.namespace, ownerName(item) ?? ""));
    return owners;
  };
};

/** Returns every due message, in the order of keys. */
const findDue = async (scope: ResyncScope, sweep: string, late: () => boolean): Promise<readonly Due[]> => {
  const within = await scope.within?.();
  const hints = await hintsIn(scope, late);
  const now = scope.now?.() ?? Date.now();
  const errandsOf = errandsIn(scope, late);
  const due: Due[] = [];
  for (const operator of scope.operators) {
    const { kind, founds } = operator;
    const mine = hints.filter((hint) => hint.kind === kind);
    const objects = await objectsOf(scope, operator, { late, isRecorded: mine.length > 0 });
    if (objects === undefined) continue;
    const errands = await errandsOf(operator);
    for (const one of dueOf({ cluster: scope.cluster, kind, objects, founds, hints: mine, errands, now }, sweep)) {
      if (one !== undefined) due.push(one);
      await scope.breathe?.();
    }
  }
  await scope.breathe?.();
  const kinds = new Set(scope.operators.map(({ kind }) => kind));
  due.push(...agedLogsOf({ cluster: scope.cluster, kinds, hints, now }, sweep));
  if (scope.updates === true) due.push(...undeliveredOf(scope.cluster, hints, sweep));
  return due
    .filter(({ message }) => within?.(message.namespace) !== false)
    .map((one) => ({ one, text: textOf(one.message) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ one }) => one);
};

const atOnce = 50;

/** Runs a resync within limits. `sweep` names the run. A failed send rejects, and the caller tries again. */
export const resyncWithin = async (scope: ResyncScope, sweep: string, { late, after }: Limits): Promise<Swept> => {
  const all = await findDue(scope, sweep, late);
  const first = after === undefined ? 0 : all.findIndex(({ message }) => textOf(message) > after);
  const due = first <= 0 ? all : [...all.slice(first), ...all.slice(0, first)];
  let sent = 0;
  while (sent < due.length && !late()) {
    await scope.breathe?.();
    const slice = due.slice(sent, sent + atOnce);
    await Promise.all(slice.map(({ message, dedupeId }) => scope.queue.send(message, dedupeId)));
    sent += slice.length;
  }
  const last = due[sent - 1];
  const left = due.length - sent;
  return {
    sent,
    left,
    next: left === 0 ? undefined : last === undefined ? after : textOf(last.message),
    unheard: all.flatMap(({ unheard = [] }) => unheard),
  };
};

const unlimited: Limits = { late: () => false, after: undefined };

/** Runs a resync without a time limit. Returns the number of keys sent. */
export const resync = async (scope: ResyncScope, sweep: string): Promise<number> =>
  (await resyncWithin(scope, sweep, unlimited)).sent;

/**
 * Returns the resyncs of a process, which tell a board, if it has one, the changes that no message had told. `again` returns the
 * number of keys sent; a failure of `anew` is reported, and it never rejects.
 */
export const resyncsOf = (scope: ResyncScope, report: Report, board?: Pick<UnheardBoard, "tell">) => {
  const again = async (): Promise<number> => {
    const { sent, unheard } = await resyncWithin(scope, String(Date.now()), unlimited);
    board?.tell(unheard);
    return sent;
  };
  const anew = async (): Promise<void> => {
    await again().catch((cause: unknown) => report("warn", "resync failed", { error: String(cause) }));
  };
  return { again, anew };
};

/** Watches that lose their places list anew at about the same time, and one resync follows them all. */
const gapMs = 1_000;

/** Begins a resync a second after a gap in the news. `end` begins no more; it returns true if one was still to come. */
export const resyncAfterGaps = (anew: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  return {
    gap: (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        anew();
      }, gapMs);
    },
    end: (): boolean => {
      const waits = timer !== undefined;
      clearTimeout(timer);
      timer = undefined;
      return waits;
    },
  };
};

export type Sweeping = {
  /** True once a resync has succeeded. */
  swept(): boolean;
  /** Begins no other resync, and resolves when the one in flight has ended. */
  stop(): Promise<void>;
};

const soonMs = 30_000;

/** Starts the loop. `sweep` returns the number of keys that it sent. */
export const startSweeping = (sweep: () => Promise<number>, everyMs: number, report: Report): Sweeping => {
  let swept = false;
  const once = async (): Promise<number> => {
    try {
      const keys = await sweep();
      swept = true;
      report(keys === 0 ? "debug" : "info", "resync: sending unfinished keys again", { keys });
      return everyMs;
    } catch (cause) {
      const waitMs = Math.min(soonMs, everyMs);
      const error = errorText(cause);
      report("warn", "resync failed, trying again", { error, waitMs });
      return waitMs;
    }
  };
  return { swept: () => swept, stop: startRounds(once) };
};
