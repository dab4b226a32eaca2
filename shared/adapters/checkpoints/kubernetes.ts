/**
 * Checkpoints as objects of the kind `Checkpoint` beside the application: no database is needed. The resourceVersion
 * is the lock. An object's labels and annotations are what a resync reads without specs.
 */
import { oncePerObject } from "../../core/cache.ts";
import { ApiError, type HttpResponse, type Transport } from "../../core/http.ts";
import { digestOf } from "../../core/json.ts";
import { digest, type Key } from "../../core/key.ts";
import {
  apiVersionOf,
  type Metadata,
  type Obj,
  type Ref,
  type Resource,
  refText,
  type Stored,
  subdomain,
} from "../../core/object.ts";
import { positionOf, positionText } from "../../core/updates.ts";
import type { AnyRecord, CheckpointRecord, Checkpoints, DeliveryRecord, Version } from "../../engine/ports.ts";
import { collectionPath, objectPath } from "../../kube/paths.ts";
import { namespaces } from "../../kube/resources.ts";
import { errorOf, saysGone, storedOf } from "../../kube/responses.ts";
import { metadataOfOne } from "../kubernetes/requests.ts";

export const checkpointResource: Resource = {
  group: "rekindle.dev",
  version: "v1alpha1",
  plural: "checkpoints",
  kind: "Checkpoint",
};

const wakeAtAnnotation = "rekindle.dev/wake-at";
const kindLabel = "rekindle.dev/kind";
export const clusterLabel = "rekindle.dev/cluster";
const nameAnnotation = "rekindle.dev/name";
const uidAnnotation = "rekindle.dev/uid";
const generationAnnotation = "rekindle.dev/generation";
const restsAnnotation = "rekindle.dev/rests";
const marksAnnotation = "rekindle.dev/marks";
const updatesAnnotation = "rekindle.dev/updates";
const pruneAtAnnotation = "rekindle.dev/prune-at";
const scopeAnnotation = "rekindle.dev/scope";
const sealAnnotation = "rekindle.dev/seal";

const longestName = 253;
const labelValue = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Returns `kind.name`; if that is not a valid name, a shortened form with a digest. */
export const checkpointName = (kind: string, name: string): string => {
  const plain = `${kind.toLowerCase()}.${name}`;
  if (plain.length <= longestName && subdomain.test(plain)) return plain;
  const tail = digest(kind, name).slice(0, 16);
  const head = plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, longestName - tail.length - 1);
  return `${head.replace(/^-|-$/g, "") || "x"}-${tail}`;
};

/** Returns the location of a key's checkpoint: the application's namespace, or `home` for keys without one. */
export const checkpointRef = (key: Key, home: string): Ref => ({
  resource: checkpointResource,
  namespace: key.namespace === "" ? home : key.namespace,
  name: checkpointName(key.kind, key.name),
});

/** Returns the label selector of the records of a kind. */
export const kindSelector = (kind: string): string => `${kindLabel}=${kind}`;

const labelled = (name: string, value: string): Record<string, string> =>
  labelValue.test(value) ? { [name]: value } : {};

/** The fields that a record of any use may show to a resync. */
export type ShownRecord = Pick<CheckpointRecord, "generation" | "rests" | "marks" | "wakeAt" | "pruneAt" | "outbox"> &
  Pick<DeliveryRecord, "acknowledged">;

/**
 * Returns the position of a record's stream: of an application's record the newest update, of a delivery's the newest
 * acknowledged one.
 */
export const progressOf = ({ outbox, acknowledged }: ShownRecord): string | undefined => {
  const position = outbox === undefined ? acknowledged : positionOf(outbox);
  return position === undefined ? undefined : positionText(position);
};

/**
 * Returns a seal that shows whether a record was edited after its save. It is not a secret: a client that may write the
 * record may write its seal, too.
 */
export const sealOf = oncePerObject((record) => digestOf(record).slice(0, 32));

/**
 * True if the record does not match its seal. Records without a seal were saved by an earlier version and count as
 * unedited.
 */
const isEdited = ({ metadata: { annotations = {} }, spec }: Obj): boolean => {
  const seal = annotations[sealAnnotation];
  return seal !== undefined && seal !== sealOf(spec);
};

/** Returns an annotation; none if the value is undefined. */
const annotated = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };

const instantText = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString();

const hintAnnotations = (record: ShownRecord): Record<string, string> => ({
  ...annotated(generationAnnotation, record.generation?.toString()),
  ...annotated(restsAnnotation, record.rests === true ? "true" : undefined),
  ...annotated(marksAnnotation, record.marks),
  ...annotated(wakeAtAnnotation, instantText(record.wakeAt)),
  ...annotated(pruneAtAnnotation, instantText(record.pruneAt)),
  ...annotated(updatesAnnotation, progressOf(record)),
});

/** Builds the whole object to store. */
export const checkpointObject = (ref: Ref, key: Key, record: AnyRecord): Obj => ({
  apiVersion: apiVersionOf(checkpointResource),
  kind: checkpointResource.kind,
  metadata: {
    name: ref.name,
    ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
    labels: { ...labelled(kindLabel, key.kind), ...labelled(clusterLabel, key.cluster) },
    annotations: {
      [nameAnnotation]: key.name,
      ...annotated(scopeAnnotation, key.namespace === "" ? "Cluster" : undefined),
      [uidAnnotation]: record.uid,
      [sealAnnotation]: sealOf(record),
      ...hintAnnotations(record),
    },
  },
  spec: record,
});

/** The fields of a checkpoint that its metadata shows to a resync. */
export type CheckpointHint = {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** UID of the application. */
  readonly uid: string;
  readonly generation: number | undefined;
  readonly rests: boolean;
  /** The digest of labels and annotations that the record rests on. */
  readonly marks?: string;
  readonly wakeAt: number | undefined;
  /** The position of its stream of updates. */
  readonly updates?: string;
  /** The end of the retention of its oldest run, epoch ms. */
  readonly pruneAt: number | undefined;
};

const instantIn = (text: string | undefined): number | undefined => {
  const at = Date.parse(text ?? "");
  return Number.isNaN(at) ? undefined : at;
};

/** Reads a checkpoint's metadata; undefined if it is not Rekindle's or its name does not match. */
export const hintOf = (metadata: Metadata): CheckpointHint | undefined => {
  const { labels = {}, annotations = {}, namespace } = metadata;
  const { [kindLabel]: kind } = labels;
  const { [nameAnnotation]: name, [uidAnnotation]: uid } = annotations;
  const { [updatesAnnotation]: updates, [marksAnnotation]: marks } = annotations;
  if (kind === undefined || name === undefined || uid === undefined || namespace === undefined) return undefined;
  if (checkpointName(kind, name) !== metadata.name) return undefined;
  const generation = Number(annotations[generationAnnotation]);
  return {
    kind,
    namespace: annotations[scopeAnnotation] === "Cluster" ? "" : namespace,
    name,
    uid,
    generation: Number.isFinite(generation) ? generation : undefined,
    rests: annotations[restsAnnotation] === "true",
    wakeAt: instantIn(annotations[wakeAtAnnotation]),
    pruneAt: instantIn(annotations[pruneAtAnnotation]),
    ...(updates === undefined ? {} : { updates }),
    ...(marks === undefined ? {} : { marks }),
  };
};

export type CheckpointOptions = {
  readonly timeoutMs?: number;
  /** Namespace for the records of keys without a namespace. */
  readonly home?: string;
};

type Store = { readonly transport: Transport; readonly timeoutMs: number; readonly home: string };

const json = { "content-type": "application/json" } as const;

/** A save needs the version of what it stored, and not the record again. */
const saving = { ...json, ...metadataOfOne } as const;

/** UID and resourceVersion: a recreated record of the same name has another version, whatever its resourceVersion. */
const versionOf = (stored: Stored): Version => `${stored.metadata.uid}/${stored.metadata.resourceVersion}`;

const fenceOf = (version: Version): { readonly uid: string; readonly resourceVersion: string } => {
  const cut = version.indexOf("/");
  return { uid: version.slice(0, cut), resourceVersion: version.slice(cut + 1) };
};

const load = async (store: Store, key: Key): ReturnType<Checkpoints["load"]> => {
  const { transport, timeoutMs, home } = store;
  const ref = checkpointRef(key, home);
  const response = await transport.send({ method: "GET", path: objectPath(ref), headers: {}, timeoutMs });
  if (saysGone(response, ref.name)) return undefined;
  const stored = storedOf(`load ${refText(ref)}`, response);
  const loaded = { record: stored.spec, version: versionOf(stored) };
  return isEdited(stored) ? { ...loaded, edited: true } : loaded;
};

/** Returns the error if the namespace for records of cluster-scoped objects is missing; a user must create it. */
const homeless = (response: HttpResponse, { kind, name }: Key, { namespace = "" }: Ref): ApiError | undefined =>
  saysGone(response, namespace)
    ? new ApiError({
        status: 404,
        reason: "NamespaceMissing",
        retryAfterMs: 300_000,
        message: `the record of ${kind} ${name} is stored in namespace ${namespace}, which does not exist: kubectl create namespace ${namespace}`,
      })
    : undefined;

/** True if another process was first: the record has another version, was deleted, or exists already. */
const raced = (response: HttpResponse, ref: Ref): boolean => response.status === 409 || saysGone(response, ref.name);

const save = async (
  store: Store,
  key: Key,
  record: AnyRecord,
  version: Version | undefined,
): Promise<Version | "raced"> => {
  const { transport, timeoutMs, home } = store;
  const ref = checkpointRef(key, home);
  const object = checkpointObject(ref, key, record);
  const response =
    version === undefined
      ? await transport.send({
          method: "POST",
          path: collectionPath(ref.resource, ref.namespace),
          headers: saving,
          body: JSON.stringify(object),
          timeoutMs,
        })
      : await transport.send({
          method: "PUT",
          path: objectPath(ref),
          headers: saving,
          body: JSON.stringify({ ...object, metadata: { ...object.metadata, ...fenceOf(version) } }),
          timeoutMs,
        });
  const missing = key.namespace === "" ? homeless(response, key, ref) : undefined;
  if (missing !== undefined) throw missing;
  return raced(response, ref) ? "raced" : versionOf(storedOf(`save ${refText(ref)}`, response));
};

const remove = async (store: Store, key: Key, version: Version): Promise<"removed" | "raced"> => {
  const { transport, timeoutMs, home } = store;
  const ref = checkpointRef(key, home);
  const response = await transport.send({
    method: "DELETE",
    path: objectPath(ref),
    headers: json,
    body: JSON.stringify({ kind: "DeleteOptions", apiVersion: "v1", preconditions: fenceOf(version) }),
    timeoutMs,
  });
  if (response.status >= 200 && response.status < 300) return "removed";
  if (raced(response, ref)) return "raced";
  throw errorOf(`remove ${refText(ref)}`, response);
};

/** Opens the store. If the answer to a write is lost, the next load shows whether it happened. */
export const kubernetesCheckpoints = (transport: Transport, options: CheckpointOptions = {}): Checkpoints => {
  const store: Store = { transport, timeoutMs: 5_000, home: "rekindle", ...options };
  return {
    load: (key) => load(store, key),
    save: (key, record, version) => save(store, key, record, version),
    remove: (key, version) => remove(store, key, version),
    homed: async () => {
      const path = objectPath({ resource: namespaces, name: store.home });
      const { status } = await transport.send({ method: "GET", path, headers: {}, timeoutMs: store.timeoutMs });
      return status !== 404;
    },
  };
};
