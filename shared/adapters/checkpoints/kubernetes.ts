/**
 * Checkpoints as objects of the kind `Checkpoint` beside the application: no database is needed. The resourceVersion is
 * the lock.
 */
import { ApiError, type HttpResponse, type Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import { type Ref, refText, type Stored } from "../../core/object.ts";
import type { AnyRecord, Checkpoints, Version } from "../../engine/ports.ts";
import { collectionPath, objectPath } from "../../kube/paths.ts";
import { namespaces } from "../../kube/resources.ts";
import { errorOf, saysGone, storedOf } from "../../kube/responses.ts";
import { checkpointObject, checkpointRef, isEdited } from "./object.ts";

export type CheckpointOptions = {
  readonly timeoutMs?: number;
  /** Namespace for the records of keys without a namespace. */
  readonly home?: string;
};

type Store = { readonly transport: Transport; readonly timeoutMs: number; readonly home: string };

const json = { "content-type": "application/json" } as const;

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
  const loaded = { record: stored["spec"], version: versionOf(stored) };
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
          headers: json,
          body: JSON.stringify(object),
          timeoutMs,
        })
      : await transport.send({
          method: "PUT",
          path: objectPath(ref),
          headers: json,
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
