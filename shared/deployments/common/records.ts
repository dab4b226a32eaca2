/** The record store of one cluster: the records, and the hints that a resync reads instead of records. */
import { kubernetesCheckpoints } from "../../adapters/checkpoints/kubernetes.ts";
import type { TableCheckpoints, TableOptions } from "../../adapters/dynamodb/checkpoints.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import type { CheckpointRecord, Checkpoints } from "../../engine/ports.ts";
import type { Hint } from "../../forward/resync.ts";
import type { Place } from "../settings/formats.ts";
import { once } from "./once.ts";

export type Records = {
  readonly checkpoints: Checkpoints;
  /**
   * Hints of the records in these namespaces; an empty list means all. Absent: the hints are the metadata of
   * `Checkpoint` objects.
   */
  readonly hints?: ((namespaces: readonly string[]) => Promise<readonly Hint[]>) | undefined;
};

type Around = {
  readonly transport: Transport;
  /** Alias of the cluster, and partition of its records in a table. */
  readonly cluster: string;
  /** Namespace for records of cluster-scoped objects; used for `Checkpoint` objects only. */
  readonly home?: string;
  readonly timeoutMs?: number;
};

/** Opens a table. The DynamoDB client is loaded with the first request. */
const tableOf = (options: TableOptions): Required<Records> => {
  const store = once(async (): Promise<TableCheckpoints> => {
    const { tableCheckpoints } = await import("../../adapters/dynamodb/checkpoints.ts");
    return tableCheckpoints(options);
  });
  return {
    checkpoints: {
      load: async (key) => (await store()).load(key),
      save: async (key, record, version) => (await store()).save(key, record, version),
      remove: async (key, version) => (await store()).remove(key, version),
    },
    hints: async (namespaces) => (await store()).hints(namespaces),
  };
};

/** Statuses of errors that pass by themselves, which do not stop a start. */
const passing: ReadonlySet<number> = new Set([0, 429]);
const lasting: ReadonlySet<string> = new Set(["StoreMismatch", "StoreElsewhere"]);

/**
 * Returns in one line why records cannot be stored there until a setting or right changes; undefined: they can be, or
 * the error passes by itself.
 */
export const whyUnkept = async (where: Place, around: Around): Promise<string | undefined> => {
  if (where.in === "kubernetes") return undefined;
  const { checkpoints } = openRecords(where, around);
  const nobody = { cluster: around.cluster, kind: "Nobody", namespace: "", name: "nobody" };
  try {
    await checkpoints.load(nobody);
    return undefined;
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    return passing.has(cause.status) && !lasting.has(cause.reason) ? undefined : cause.message;
  }
};

/** Opens the store without a request. */
export const openRecords = (place: Place, around: Around): Records => {
  const { transport, cluster, home, timeoutMs } = around;
  const limit = timeoutMs === undefined ? {} : { timeoutMs };
  if (place.in === "kubernetes") {
    const options = home === undefined ? limit : { ...limit, home };
    return { checkpoints: kubernetesCheckpoints(transport, options) };
  }
  const { table, region, keepMs } = place;
  const kept = keepMs === undefined ? {} : { keepMs };
  return tableOf({ table, region, cluster, ...limit, ...kept });
};

/** Receives every record that this process has saved; undefined: it is removed. */
type Recorded = (key: Key, record: CheckpointRecord | undefined) => void;

/** Tells each record that is saved or removed. */
export const tellingSaves = (checkpoints: Checkpoints, recorded: Recorded | undefined): Checkpoints => {
  if (recorded === undefined) return checkpoints;
  return {
    ...checkpoints,
    save: async (key, record, version) => {
      const saved = await checkpoints.save(key, record, version);
      if (saved !== "raced") recorded(key, record);
      return saved;
    },
    remove: async (key, version) => {
      const removed = await checkpoints.remove(key, version);
      if (removed === "removed") recorded(key, undefined);
      return removed;
    },
  };
};
