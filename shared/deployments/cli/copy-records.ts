/**
 * The store side of `rekindle checkpoints migrate`, and the table of records where one is set. A conditional save
 * copies each record. The source record is removed only if removal is requested, and only while it equals the copy.
 * The command may run beside hosts, be killed at any point, and be repeated.
 */
import { checkpointResource, hintOf, kubernetesCheckpoints } from "../../adapters/checkpoints/kubernetes.ts";
import { tableCheckpoints } from "../../adapters/dynamodb/checkpoints.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import type { CopyResult, Move } from "../../cli/io/tools.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { same } from "../../core/json.ts";
import { type Key, textOf } from "../../core/key.ts";
import { readAny } from "../../engine/checkpoint/record.ts";
import type { AnyRecord, Checkpoints, Loaded, Version } from "../../engine/ports.ts";
import type { RecordTable } from "../../inspection/io/session.ts";
import { type Place, place } from "../settings/formats.ts";
import { type Environment, settingsForCli } from "../settings/read.ts";

/** Time limit of one request to a table, ms: a person waits longer for a busy table than a step may. */
const tableTimeoutMs = 30_000;

type Source = { readonly checkpoints: Checkpoints; keys(): AsyncGenerator<Omit<Key, "cluster">> };

/**
 * Lists the keys of `Checkpoint` objects. An object whose metadata names no key is listed with an empty kind, under its
 * own name.
 */
async function* objectKeys(transport: Transport, namespaces: readonly string[]): AsyncGenerator<Omit<Key, "cluster">> {
  for (const namespace of namespaces.length === 0 ? [""] : namespaces) {
    const paging = { resource: checkpointResource, namespace, metadataOnly: true };
    for await (const { items } of pages(transport, paging)) {
      for (const { metadata } of items)
        yield hintOf(metadata) ?? { kind: "", namespace: metadata.namespace ?? "", name: metadata.name };
    }
  }
}

async function* itemKeys(
  all: AsyncGenerator<{ readonly key: Omit<Key, "cluster"> }>,
): AsyncGenerator<Omit<Key, "cluster">> {
  for await (const { key } of all) yield key;
}

const open = (transport: Transport, where: Place, { cluster, namespaces, home }: Move): Source => {
  if (where.in === "kubernetes")
    return { checkpoints: kubernetesCheckpoints(transport, { home }), keys: () => objectKeys(transport, namespaces) };
  const { table, region, keepMs } = where;
  const keeping = keepMs === undefined ? {} : { keepMs };
  const store = tableCheckpoints({ table, region, cluster, timeoutMs: tableTimeoutMs, ...keeping });
  return { checkpoints: store, keys: () => itemKeys(store.all(namespaces)) };
};

const placeOf = (text: string): Place => {
  const { data, error } = place.safeParse(text);
  if (data !== undefined) return data;
  throw new Error(`${JSON.stringify(text)}: ${error?.issues[0]?.message}`);
};

type Sound = { readonly record: AnyRecord; readonly version: Version };

/** Returns a readable record, or the reason why the record is left where it is. */
const soundIn = (loaded: Loaded): Sound | string => {
  if (loaded.edited === true) return "it was edited: rekindle recover it first";
  const read = readAny(loaded.record);
  return read.ok ? { record: read.record, version: loaded.version } : `it cannot be read: ${read.error}`;
};

type Did = Pick<CopyResult, "did" | "why">;

/** Returns whether the record in the target is later: it is of the same object and has more saves. */
const isLater = (there: unknown, here: AnyRecord): boolean => {
  const read = readAny(there);
  return read.ok && read.record.uid === here.uid && read.record.saves > here.saves;
};

const copied = async (target: Checkpoints, key: Key, { record }: Sound, dryRun: boolean): Promise<Did> => {
  const there = await target.load(key);
  if (there !== undefined && same(there.record, record)) return { did: "there" };
  if (there !== undefined && isLater(there.record, record))
    return { did: "refused", why: "the other store has a later one: a host or function uses that store already" };
  if (dryRun) return { did: "copied" };
  const saved = await target.save(key, record, there?.version);
  return saved === "raced" ? { did: "refused", why: "another process was writing it: try again" } : { did: "copied" };
};

const removed = async (source: Checkpoints, key: Key, { version }: Sound): Promise<Did> =>
  (await source.remove(key, version)) === "removed"
    ? { did: "removed" }
    : {
        did: "refused",
        why: "it was saved again meanwhile: stop the hosts and functions that still use it, and try again",
      };

const moved = async (source: Checkpoints, target: Checkpoints, key: Key, move: Move): Promise<Did | undefined> => {
  if (key.kind === "") return { did: "refused", why: "its metadata does not name its object" };
  const loaded = await source.load(key);
  if (loaded === undefined) return undefined;
  const sound = soundIn(loaded);
  if (typeof sound === "string") return { did: "refused", why: sound };
  const did = await copied(target, key, sound, move.dryRun);
  if (did.did === "refused" || !move.remove || move.dryRun) return did;
  return await removed(source, key, sound);
};

/**
 * Returns the outcome of a record that is too large, which is left out. Any other error would meet every record, and
 * ends the migration.
 */
const failureOf = (cause: unknown): Did => {
  if (cause instanceof ApiError && cause.reason === "RecordTooLarge") return { did: "refused", why: cause.message };
  throw cause;
};

/** Copies record by record, and yields the outcome of each. */
export async function* moveRecords(transport: Transport, move: Move): AsyncGenerator<CopyResult> {
  const [from, to] = [placeOf(move.from), placeOf(move.to)];
  if (same(from, to)) throw new Error("--from and --to are the same place");
  const source = open(transport, from, move);
  const target = open(transport, to, move);
  for await (const { kind, namespace, name } of source.keys()) {
    const key = { cluster: move.cluster, kind, namespace, name };
    const did = await moved(source.checkpoints, target.checkpoints, key, move).catch(failureOf);
    if (did !== undefined) yield { key: textOf(key), ...did };
  }
}

/**
 * Opens the table that the environment names, without a request; undefined: records are objects of the cluster. Throws
 * one line where a setting is wrong.
 */
export const openTable = (env: Environment): RecordTable | undefined => {
  const { cluster, checkpoints: kept } = settingsForCli(env);
  if (kept.in === "kubernetes") return undefined;
  const { table: name, region, keepMs } = kept;
  const options = { table: name, cluster, region, ...(keepMs === undefined ? {} : { keepMs }) };
  return { name, cluster, records: tableCheckpoints(options) };
};
