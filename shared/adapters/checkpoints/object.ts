/** A checkpoint as a Kubernetes object: its name, its labels, and the annotations that a resync reads without specs. */

import { oncePerObject } from "../../core/cache.ts";
import { digestOf } from "../../core/json.ts";
import { digest, type Key } from "../../core/key.ts";
import { apiVersionOf, type Metadata, type Obj, type Ref, type Resource } from "../../core/object.ts";
import { positionOf, positionText } from "../../core/outbox.ts";
import type { AnyRecord, CheckpointRecord, DeliveryRecord } from "../../engine/ports.ts";

export const checkpointResource: Resource = {
  group: "rekindle.dev",
  version: "v1alpha1",
  plural: "checkpoints",
  kind: "Checkpoint",
};

const wakeAtAnnotation = "rekindle.dev/wake-at";
const kindLabel = "rekindle.dev/kind";
const clusterLabel = "rekindle.dev/cluster";
const nameAnnotation = "rekindle.dev/name";
const uidAnnotation = "rekindle.dev/uid";
const generationAnnotation = "rekindle.dev/generation";
const restsAnnotation = "rekindle.dev/rests";
const updatesAnnotation = "rekindle.dev/updates";
const pruneAtAnnotation = "rekindle.dev/prune-at";
const scopeAnnotation = "rekindle.dev/scope";
const sealAnnotation = "rekindle.dev/seal";

const longestName = 253;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
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

const labelled = (name: string, value: string): Record<string, string> =>
  labelValue.test(value) ? { [name]: value } : {};

/** The fields that a record of any use may show to a resync. */
export type ShownRecord = Pick<CheckpointRecord, "generation" | "rests" | "wakeAt" | "pruneAt" | "outbox"> &
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
export const isEdited = ({ metadata: { annotations = {} }, spec }: Obj): boolean => {
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
  const { [nameAnnotation]: name, [uidAnnotation]: uid, [updatesAnnotation]: updates } = annotations;
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
  };
};
