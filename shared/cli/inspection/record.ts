/** An application's checkpoint as the command line reads it: the fields of the engine, without parsing the memory. */
import * as z from "zod";
import { checkpointRef, checkpointResource } from "../../adapters/checkpoints/object.ts";
import { itemKey } from "../../adapters/dynamodb/item.ts";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/errors.ts";
import type { Key } from "../../core/key.ts";
import type { ReadTable, Session, Source } from "../io/tools.ts";

const update = z.object({
  state: z.string(),
  attempt: z.number(),
  terminal: z.boolean(),
  message: z.string().optional(),
  sequence: z.number(),
  uid: z.string(),
  at: z.number(),
});

const shape = z.object({
  schema: z.number(),
  uid: z.string(),
  saves: z.number(),
  waitsFor: z.string().optional(),
  wakeAt: z.number().optional(),
  rests: z.boolean().optional(),
  trouble: z.object({ reason: z.string(), message: z.string(), since: z.number() }).optional(),
  outbox: z.object({ stream: z.string(), to: z.string(), entries: z.array(update).min(1) }).optional(),
  runs: z
    .array(z.object({ attempt: z.number(), outcome: z.string(), endedAt: z.number(), error: z.string().optional() }))
    .optional(),
  memory: z.unknown(),
});

export type RecordView = z.infer<typeof shape>;

export type Found =
  | { readonly is: "record"; readonly record: RecordView }
  | { readonly is: "none"; readonly why: string }
  | { readonly is: "unreadable"; readonly error: string };

const read = (spec: unknown): Found => {
  const parsed = shape.safeParse(spec);
  if (parsed.success) return { is: "record", record: parsed.data };
  const error = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  return { is: "unreadable", error };
};

/** The record that a `Checkpoint` holds; undefined where it does not parse. */
export const recordView = (spec: unknown): RecordView | undefined => {
  const found = read(spec);
  return found.is === "record" ? found.record : undefined;
};

/** Turns 404 and 403 into an answer: the output is then made from the object alone. */
const refusal = (cause: unknown): Found => {
  if (cause instanceof ApiError && (cause.status === 404 || cause.status === 403)) {
    return { is: "none", why: cause.message };
  }
  throw cause;
};

/** The command that deletes an unusable record. The next step then makes it again from the object's status and pods. */
export const removalCommand = ({ table }: Pick<Source, "table">, key: Key): string => {
  if (table !== undefined) {
    const item = JSON.stringify(itemKey(table.cluster, key));
    return `aws dynamodb delete-item --table-name ${table.name} --key '${item}'`;
  }
  const { resource, namespace, name } = checkpointRef(key, "rekindle");
  return `kubectl delete ${resource.plural}.${resource.group} -n ${namespace} ${name}`;
};

const itemOf = async ({ name, cluster, records }: ReadTable, key: Key): Promise<Found> => {
  const loaded = await records.load(key);
  if (loaded !== undefined) return read(loaded.record);
  return { is: "none", why: `there is none in the table ${name} of the cluster ${cluster}` };
};

const objectOf = async ({ transport }: Pick<Source, "transport">, key: Key): Promise<Found> => {
  try {
    const { value } = await openCluster(transport).get(checkpointRef(key, "rekindle"));
    return value === undefined ? { is: "none", why: "there is none" } : read(value["spec"]);
  } catch (cause) {
    return refusal(cause);
  }
};

/** Reads the record of one application. An error of the table is thrown: the user said that records are there. */
export const recordOf = (source: Source, key: Key): Promise<Found> =>
  source.table === undefined ? objectOf(source, key) : itemOf(source.table, key);

const idOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** The key of a record in the map of `recordsIn`. */
export const recordId = (key: Key): string => {
  const { namespace = "", name } = checkpointRef(key, "rekindle");
  return idOf(namespace, name);
};

/** Yields the stored records, each with its `recordId`. */
async function* keptIn(
  { transport, table }: Pick<Session, "transport" | "table">,
  namespace: string,
): AsyncGenerator<readonly [string, unknown]> {
  if (table !== undefined) {
    for await (const { key, record } of table.records.all(namespace === "" ? [] : [namespace]))
      yield [recordId({ cluster: table.cluster, ...key }), record];
    return;
  }
  for await (const page of pages(transport, { resource: checkpointResource, namespace })) {
    for (const { metadata, spec } of page.items) yield [idOf(metadata.namespace ?? "", metadata.name), spec];
  }
}

/** All records of a namespace, or of all, by `recordId`. */
export const recordsIn = async (
  session: Pick<Session, "transport" | "table">,
  namespace: string,
): Promise<ReadonlyMap<string, RecordView>> => {
  const records = new Map<string, RecordView>();
  try {
    for await (const [id, kept] of keptIn(session, namespace)) {
      const found = read(kept);
      if (found.is === "record") records.set(id, found.record);
    }
  } catch (cause) {
    if (session.table !== undefined) throw cause;
    refusal(cause);
  }
  return records;
};
