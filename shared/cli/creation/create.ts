/**
 * `rekindle create`: sends objects to the API server, and prints its refusals with the fields to change. With `--from
 * SCHEDULE` the object is one run of a schedule's template, now and under a name of its own.
 */

import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { request } from "../../adapters/kubernetes/requests.ts";
import { ApiError } from "../../core/http.ts";
import { fieldsOf, isRecord, jsonOf } from "../../core/json.ts";
import { apiVersionOf, type Obj, type Resource } from "../../core/object.ts";
import { collectionPath, objectPath, withQuery } from "../../kube/paths.ts";
import { bodyOf, errorOf, storedOf } from "../../kube/responses.ts";
import { type Document, nameText } from "../io/documents.ts";
import { Refused, type Session } from "../io/tools.ts";
import { kindOf, usual } from "../kinds/all.ts";
import { scheduledSparkApplication } from "../kinds/spark.ts";

export type Creating = {
  readonly namespace: string | undefined;
  /** An object that exists gets the new spec. */
  readonly override: boolean;
  /** The server checks everything and keeps nothing. */
  readonly dryRun: boolean;
};

type Place = { readonly resource: Resource; readonly isNamespaced: boolean };

/** Finds the resource of an object: known for Rekindle's kinds, looked up at the API server for others. */
const placeOf = async ({ transport }: Session, object: Obj): Promise<Place> => {
  const kind = kindOf(object);
  if (kind !== undefined) return { resource: kind.resource, isNamespaced: true };
  const [version = "", group = ""] = object.apiVersion.split("/").reverse();
  const path = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const { resources } = await request(transport, "GET", path).catch((cause: unknown) => {
    if (cause instanceof ApiError && cause.status === 404) return { resources: [] };
    throw cause;
  });
  const all = Array.isArray(resources) ? resources.filter(isRecord) : [];
  const found = all.find(({ kind: its, name }) => its === object.kind && !String(name).includes("/"));
  if (found === undefined) throw new Refused(`the server knows no ${object.kind} in ${object.apiVersion}`);
  const resource = { group, version, plural: String(found["name"]), kind: object.kind };
  return { resource, isNamespaced: found["namespaced"] === true };
};

/** Sets the namespace of an object. Refuses a `-n` other than the namespace that the object names. */
const settled = (session: Session, object: Obj, { isNamespaced }: Place, namespace: string | undefined): Obj => {
  if (!isNamespaced) return object;
  const own = object.metadata.namespace;
  if (own !== undefined && namespace !== undefined && own !== namespace)
    throw new Refused(`its metadata.namespace is ${own}, and -n says ${namespace}: keep one of them`);
  return { ...object, metadata: { ...object.metadata, namespace: own ?? namespace ?? session.namespace ?? "default" } };
};

const causesIn = (body: string): readonly string[] => {
  const status = jsonOf(body);
  const details = isRecord(status) ? status["details"] : undefined;
  const causes = isRecord(details) && Array.isArray(details["causes"]) ? details["causes"].filter(isRecord) : [];
  return causes.map(({ field, message }) =>
    [field, message].filter((part) => part !== undefined && part !== "").join(": "),
  );
};

/** Shortens the API server's answer to each field and its problem. */
const clear = (error: ApiError, body: string): string => {
  const causes = [...new Set(causesIn(body))];
  if (causes.length > 0) return causes.join("; ");
  const strict = /strict decoding error: (.*)$/s.exec(error.message)?.[1];
  if (strict !== undefined) return `${strict}: a field that is misspelt, or not known to the installed CRD`;
  const denied = /admission webhook "([^"]+)" denied the request: (.*)$/s.exec(error.message);
  return denied === null ? error.message : `${denied[2]} (says the admission webhook ${denied[1]})`;
};

type Sending = {
  readonly method: "POST" | "PUT";
  readonly path: string;
  readonly object: Obj;
  readonly dryRun: boolean;
};

/** Identity of an object in the API server's answer. It has no resourceVersion, as a dry run's answer has none. */
type Kept = { readonly name: string; readonly namespace: string | undefined; readonly uid: string | undefined };

const keptOf = ({ metadata }: Readonly<Record<string, unknown>>): Kept => {
  const { name, namespace, uid } = fieldsOf(metadata);
  const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  return { name: String(name), namespace: textIn(namespace), uid: textIn(uid) };
};

const send = async ({ transport }: Session, { method, path, object, dryRun }: Sending): Promise<Kept> => {
  const query = { fieldManager: "rekindle", fieldValidation: "Strict", dryRun: dryRun ? "All" : undefined };
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify(object);
  const response = await transport.send({ method, path: withQuery(path, query), headers, body, timeoutMs: 15_000 });
  if (response.status < 300) return keptOf(bodyOf(`${method} ${path}`, response));
  const error = errorOf(method, response);
  if (![400, 409, 422].includes(error.status) && !error.message.includes("admission webhook")) throw error;
  const { status, reason } = error;
  throw new ApiError({ status, reason, message: clear(error, response.body), cause: error });
};

const replaced = async (session: Session, object: Obj, resource: Resource, dryRun: boolean): Promise<Kept> => {
  const { name, namespace } = object.metadata;
  const ref = { resource, name, ...(namespace === undefined ? {} : { namespace }) };
  const path = objectPath(ref);
  const existing = storedOf(
    `GET ${path}`,
    await session.transport.send({ method: "GET", path, headers: {}, timeoutMs: 5_000 }),
  );
  const { uid, resourceVersion, ownerReferences, finalizers } = existing.metadata;
  const kept = { ...(ownerReferences && { ownerReferences }), ...(finalizers && { finalizers }) };
  const metadata = { ...kept, ...object.metadata, uid, resourceVersion };
  return send(session, { method: "PUT", path, object: { ...object, metadata }, dryRun });
};

const named = ({ metadata }: Obj): string => metadata.name;

/** Creates or replaces one object. Returns its identity, and the line that tells what was done. */
export const create = async (
  session: Session,
  given: Obj,
  { namespace, override, dryRun }: Creating,
): Promise<{ readonly kept: Kept; readonly line: string }> => {
  const place = await placeOf(session, given);
  const { resource } = place;
  const object = settled(session, given, place, namespace);
  const outcome = (kept: Kept, word: string) => ({
    kept,
    line: `${nameText(resource, kept.name)} ${word}${dryRun ? " (dry run)" : ""}`,
  });
  try {
    const path = collectionPath(resource, object.metadata.namespace);
    return outcome(await send(session, { method: "POST", path, object, dryRun }), "created");
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.reason !== "AlreadyExists") throw cause;
    if (!override)
      throw new Refused(
        `there is a ${apiVersionOf(resource)} ${resource.kind} ${named(object)} already; --override gives it this spec`,
        { cause },
      );
    return outcome(await replaced(session, object, resource, dryRun), "replaced");
  }
};

/** The schedule by `NAME` or `NAMESPACE/NAME`. */
const refOf = (text: string, session: Pick<Session, "namespace">, namespace: string | undefined) => {
  const parts = text.split("/");
  const [name = "", own] = [...parts].reverse();
  if (parts.length > 2 || parts.includes("")) throw new Refused(`--from ${text}: write NAME or NAMESPACE/NAME`);
  if (own !== undefined && namespace !== undefined && own !== namespace)
    throw new Refused(`--from ${text} and -n ${namespace} name different namespaces: keep one of them`);
  return { name, namespace: own ?? namespace ?? session.namespace ?? "default" };
};

/**
 * An application with the template of a schedule. As with sparkctl, the schedule owns it: it is deleted with the
 * schedule. It bears no label of the schedule, so it counts neither for its history nor for its concurrency policy.
 */
export const fromSchedule = async (
  session: Session,
  { name, from, namespace }: { readonly name: string; readonly from: string; readonly namespace: string | undefined },
): Promise<Document> => {
  const { resource } = scheduledSparkApplication;
  const ref = refOf(from, session, namespace);
  const { value: schedule } = await openCluster(session.transport).get({ resource, ...ref });
  if (schedule === undefined)
    throw new Refused(
      `there is no ${resource.kind} ${ref.namespace}/${ref.name}; see them all with: rekindle list ${resource.kind}`,
    );
  const spec = isRecord(schedule["spec"]) ? schedule["spec"]["template"] : undefined;
  if (!isRecord(spec)) throw new Refused(`${resource.kind} ${ref.namespace}/${ref.name} has no spec.template`);
  const owner = { apiVersion: schedule.apiVersion, kind: schedule.kind, name: ref.name, uid: schedule.metadata.uid };
  const object: Obj = {
    apiVersion: apiVersionOf(usual.resource),
    kind: usual.resource.kind,
    metadata: { name, namespace: ref.namespace, ownerReferences: [owner] },
    spec,
  };
  return { object, place: `--from ${from}` };
};
