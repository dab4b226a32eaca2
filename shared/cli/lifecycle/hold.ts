/** Pauses, suspends and resumes an application: `pause` stops its steps, `suspend` ends its run until it is resumed. */

import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { mergeObject } from "../../adapters/kubernetes/requests.ts";
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { isRecord } from "../../kube/responses.ts";
import { Refused } from "../io/failure.ts";
import type { Session } from "../io/tools.ts";
import type { Target } from "../selection/target.ts";

const annotation = "rekindle.dev/paused";

const nameOf = ({ key }: Target): string => `${key.namespace}/${key.name}`;

/** Reads the object of a command; refused when there is none. */
export const objectOf = async ({ transport }: Session, { kind, key }: Target): Promise<Stored> => {
  const { namespace, name } = key;
  const { value } = await openCluster(transport).get({ resource: kind.resource, namespace, name });
  if (value !== undefined) return value;
  throw new Refused(`there is no ${kind.resource.kind} ${namespace}/${name}; see them all with: rekindle list`);
};

/** Patches the object that was read, by its UID: an object that was created anew under its name stays unchanged. */
const merge = async ({ transport }: Session, { kind, key }: Target, object: Stored, change: object): Promise<void> => {
  const ref = { resource: kind.resource, namespace: key.namespace, name: key.name };
  const metadata = "metadata" in change ? fieldsOf(change.metadata) : {};
  await mergeObject(transport, { ref }, { ...change, metadata: { ...metadata, uid: object.metadata.uid } });
};

/** Sets annotations of the object that was read; null removes one. */
export const annotate = (
  session: Session,
  target: Target,
  object: Stored,
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> => merge(session, target, object, { metadata: { annotations } });

const isPaused = (object: Stored): boolean => object.metadata.annotations?.[annotation] === "true";
const isSuspended = ({ spec }: Stored): boolean => isRecord(spec) && spec["suspend"] === true;

/** Pauses an application. Returns the line to print. */
export const pause = async (session: Session, target: Target): Promise<string> => {
  const object = await objectOf(session, target);
  await annotate(session, target, object, { [annotation]: "true" });
  return `${nameOf(target)} is paused: its pods continue, nothing is created, deleted or counted until rekindle resume`;
};

/** Sets `spec.suspend`, which ends the run. Refuses kinds without this field. */
export const suspend = async (session: Session, target: Target): Promise<string> => {
  const { kind } = target;
  if (!kind.suspends)
    throw new Refused(
      kind.resource.kind === "Job"
        ? `a Job has no spec.suspend; suspend it by a command: rekindle job suspend -n ${target.key.namespace} ${target.key.name}`
        : `a ${kind.resource.kind} has no spec.suspend; delete it, or keep every step away: rekindle pause`,
    );
  const object = await objectOf(session, target);
  if (isSuspended(object)) return `${nameOf(target)} is suspended already`;
  const { ended, state } = kind.stateOf(object);
  if (ended !== undefined) throw new Refused(`${nameOf(target)} has ended (${state}): there is nothing to suspend`);
  await merge(session, target, object, { spec: { suspend: true } });
  return `${nameOf(target)} is being suspended: its run is ended, and rekindle resume starts a new one`;
};

/** Takes back a suspension and a pause. */
export const resume = async (session: Session, target: Target): Promise<string> => {
  const object = await objectOf(session, target);
  const spec = isSuspended(object) ? { spec: { suspend: false } } : {};
  const metadata = isPaused(object) ? { metadata: { annotations: { [annotation]: null } } } : {};
  if (!isSuspended(object) && !isPaused(object)) return `${nameOf(target)} is neither suspended nor paused`;
  await merge(session, target, object, { ...spec, ...metadata });
  return `${nameOf(target)} continues`;
};
