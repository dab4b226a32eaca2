/**
 * Pause, suspend, resume and delete, as the command line and the page do them. `pause` stops the steps of an
 * application, `suspend` ends its run until it is resumed. Each change names the UID of the object that was read: an
 * object that was created anew under its name stays unchanged.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { mergeObject } from "../../adapters/kubernetes/requests.ts";
import { isPaused, pausedAnnotation } from "../../core/annotation.ts";
import { fieldsOf, isRecord } from "../../core/json.ts";
import type { Ref, Stored } from "../../core/object.ts";
import { Refused } from "../io/refusal.ts";
import type { Source } from "../io/session.ts";
import type { Target } from "../target.ts";

type Connection = Pick<Source, "transport">;

/** An object as it was read. `isExact`: it is changed only while it has the same resourceVersion. */
export type Subject = { readonly target: Target; readonly object: Stored; readonly isExact?: true };

/** The line that tells of the result, and the object after it. */
export type Outcome = { readonly text: string; readonly object: Stored };

export const nameOf = ({ key }: Target): string => `${key.namespace}/${key.name}`;

const refOf = ({ kind, key }: Target): Ref => ({
  resource: kind.resource,
  namespace: key.namespace,
  name: key.name,
});

/** Reads the object of a command; refused when there is none. */
export const objectOf = async ({ transport }: Connection, target: Target): Promise<Stored> => {
  const { value } = await openCluster(transport).get(refOf(target));
  if (value !== undefined) return value;
  throw new Refused(`there is no ${target.kind.resource.kind} ${nameOf(target)}; see them all with: rekindle list`);
};

const merge = ({ transport }: Connection, { target, object, isExact }: Subject, change: object): Promise<Stored> => {
  const metadata = "metadata" in change ? fieldsOf(change.metadata) : {};
  const { uid, resourceVersion } = object.metadata;
  const fence = isExact === true ? { uid, resourceVersion } : { uid };
  return mergeObject(transport, { ref: refOf(target) }, { ...change, metadata: { ...metadata, ...fence } });
};

/** Sets annotations of the object that was read; null removes one. */
export const annotate = (
  connection: Connection,
  subject: Subject,
  annotations: Readonly<Record<string, string | null>>,
): Promise<Stored> => merge(connection, subject, { metadata: { annotations } });

export const isSuspended = ({ spec }: Stored): boolean => isRecord(spec) && spec["suspend"] === true;

export const pauseObject = async (connection: Connection, subject: Subject): Promise<Outcome> => ({
  object: await annotate(connection, subject, { [pausedAnnotation]: "true" }),
  text: `${nameOf(subject.target)} is paused: its pods continue, nothing is created, deleted or counted until rekindle resume`,
});

/** Refuses a kind without `spec.suspend`. */
export const mustSuspend = ({ kind, key }: Target): void => {
  if (kind.suspends) return;
  const { kind: word } = kind.resource;
  throw new Refused(
    kind.commands === undefined
      ? `a ${word} has no spec.suspend; delete it, or pause it: rekindle pause`
      : `a ${word} has no spec.suspend; suspend it by a command: rekindle ${word.toLowerCase()} suspend -n ${key.namespace} ${key.name}`,
  );
};

/** Sets `spec.suspend`, which ends the run. */
export const suspendObject = async (connection: Connection, subject: Subject): Promise<Outcome> => {
  const { target, object } = subject;
  const { kind } = target;
  mustSuspend(target);
  if (isSuspended(object)) return { object, text: `${nameOf(target)} is suspended already` };
  const { ended, state } = kind.stateOf(object);
  if (ended !== undefined) throw new Refused(`${nameOf(target)} has ended (${state}): there is nothing to suspend`);
  return {
    object: await merge(connection, subject, { spec: { suspend: true } }),
    text: `${nameOf(target)} is being suspended: its run is ended, and rekindle resume starts a new one`,
  };
};

/** Takes back a suspension and a pause. */
export const resumeObject = async (connection: Connection, subject: Subject): Promise<Outcome> => {
  const { target, object } = subject;
  const spec = isSuspended(object) ? { spec: { suspend: false } } : {};
  const metadata = isPaused(object) ? { metadata: { annotations: { [pausedAnnotation]: null } } } : {};
  if (!isSuspended(object) && !isPaused(object))
    return { object, text: `${nameOf(target)} is neither suspended nor paused` };
  return {
    object: await merge(connection, subject, { ...spec, ...metadata }),
    text: `${nameOf(target)} continues`,
  };
};

/** Deletes the object; its dependents go with it. */
export const deleteObject = async (
  { transport }: Connection,
  target: Target,
  fence: { readonly uid: string; readonly resourceVersion?: string },
): Promise<void> => openCluster(transport).remove(refOf(target), fence);
