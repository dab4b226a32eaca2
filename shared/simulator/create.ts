/** POST: how an object comes into being. */
import { type Fields, isFields, textAt } from "./json.ts";
import { apiVersionOf, type Kind } from "./kinds.ts";
import { managed } from "./managed.ts";
import { type Draft, draftOf, type Item, metaFaults, metaOf } from "./metadata.ts";
import { defaulted, pruneRoot } from "./prune.ts";
import {
  alreadyExists,
  badRequest,
  cause,
  forbidden,
  internal,
  invalid,
  methodNotAllowed,
  notFound,
  type Refusal,
} from "./refusal.ts";
import { ruleOf } from "./rules.ts";
import { rootFaults } from "./schema.ts";
import { nextUid, type Server, suffixOf, type Target, timeOf, type WriteOptions } from "./server.ts";
import { keyOf } from "./store.ts";

export type Written = { readonly item: Item; readonly warnings: readonly string[] };

const missingKind = (kind: Kind, body: Fields): Refusal => {
  const text = JSON.stringify(body);
  return badRequest(
    `the object provided is unrecognized (must be of type ${kind.kind}): Object 'Kind' is missing in '${text}' (${text.slice(0, 30)} ...)`,
  );
};

const customMismatch = (kind: Kind, body: Fields): Refusal | undefined => {
  const given = body["kind"];
  if (typeof given !== "string" || given === "") return missingKind(kind, body);
  if (body["apiVersion"] !== apiVersionOf(kind))
    return badRequest(
      `the API version in the data (${body["apiVersion"]}) does not match the expected API version (${apiVersionOf(kind)})`,
    );
  return given === kind.kind
    ? undefined
    : invalid({ ...kind, kind: given }, textAt(body, "metadata", "name") ?? "", [
        cause.invalid("kind", given, `must be ${kind.kind}`),
      ]);
};

const builtInMismatch = (kind: Kind, body: Fields): Refusal | undefined => {
  const given = body["kind"] ?? kind.kind;
  const version = body["apiVersion"] ?? apiVersionOf(kind);
  return given === kind.kind && version === apiVersionOf(kind)
    ? undefined
    : badRequest(
        `${given} in version "${version}" cannot be handled as a ${kind.kind}: converting (${version}.${given}) to (${kind.kind}): unknown conversion`,
      );
};

/** The body of a write as an object of the kind. */
export const readBody = (kind: Kind, body: unknown): Fields => {
  const refuse = (why: string) =>
    badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; json parse error: ${why}`,
    );
  if (body === undefined) throw refuse("unexpected end of JSON input");
  if (!isFields(body)) throw refuse("json: cannot unmarshal into an object with apiVersion and kind");
  const refusal = kind.custom === undefined ? builtInMismatch(kind, body) : customMismatch(kind, body);
  if (refusal !== undefined) throw refusal;
  return body;
};

/** A custom object as its schema wants it, and what was unknown in it. */
export const shaped = (
  kind: Kind,
  fields: Fields,
  { strict }: WriteOptions,
): { fields: Fields; warnings: string[] } => {
  const schema = kind.custom?.schema;
  if (schema === undefined) return { fields, warnings: [] };
  const { object, dropped } = pruneRoot(schema, fields);
  const words = dropped.map((path) => `unknown field "${path}"`);
  if (strict === "Strict" && words.length > 0)
    throw badRequest(
      `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: strict decoding error: ${words.join(", ")}`,
    );
  const full = defaulted(schema, object);
  return { fields: isFields(full) ? full : object, warnings: strict === "Warn" ? words : [] };
};

/** Throws when the object is not as its kind wants it. */
export const judge = (kind: Kind, draft: Draft): void => {
  const schema = kind.custom?.schema;
  const causes = [
    ...metaFaults(kind.table, draft.metadata),
    ...(schema === undefined ? (ruleOf(kind).faults?.(draft) ?? []) : rootFaults(schema, draft)),
  ];
  if (causes.length > 0) throw invalid(kind, draft.metadata.name, causes);
};

const checkNamespace = ({ store }: Server, { kind, namespace }: Target, name: string): void => {
  if (!kind.namespaced || namespace === undefined) return;
  const space = store.get("namespaces", namespace);
  if (space === undefined) throw notFound({ group: "", plural: "namespaces", kind: "Namespace" }, namespace);
  if (space.metadata.deletionTimestamp === undefined) return;
  throw forbidden(kind, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
    {
      reason: "NamespaceTerminating",
      message: `namespace ${namespace} is being terminated`,
      field: "metadata.namespace",
    },
  ]);
};

const checkPlace = (draft: Draft, { kind, namespace, name }: Target): void => {
  const given = draft.metadata;
  if (kind.namespaced && namespace === undefined) throw methodNotAllowed();
  if ((given.resourceVersion ?? "") !== "")
    throw internal("resourceVersion should not be set on objects to be created");
  if (kind.namespaced && given.namespace !== undefined && given.namespace !== namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if (name !== undefined && given.name !== "" && given.name !== name)
    throw badRequest(`the name of the object (${given.name}) does not match the name on the URL (${name})`);
};

const identified = (server: Server, draft: Draft, { kind, namespace, name }: Target): Item => {
  const uid = nextUid(server);
  const { generateName, labels, annotations, ownerReferences, finalizers } = draft.metadata;
  const given = name ?? draft.metadata.name;
  const generated = given === "" && generateName !== undefined ? `${generateName}${suffixOf(uid)}` : given;
  const meta = metaOf({
    name: generated,
    generateName,
    namespace: kind.namespaced ? namespace : undefined,
    generation: kind.generation ? 1 : undefined,
    creationTimestamp: timeOf(server),
    labels,
    annotations,
    ownerReferences,
    finalizers,
  });
  return { ...draft, metadata: { ...meta, uid, resourceVersion: "" } };
};

/** A new object's status is its own affair only where it has no status of its own door. */
const withoutStatus = (kind: Kind, fields: Fields): Fields => {
  if (!kind.status) return fields;
  const { status, ...rest } = fields;
  return rest;
};

/** Makes the object, or throws the refusal. */
export const create = (server: Server, target: Target, body: unknown, options: WriteOptions): Written => {
  const { kind } = target;
  const given = readBody(kind, body);
  const { fields, warnings } = shaped(kind, withoutStatus(kind, given), options);
  const draft = draftOf(fields, apiVersionOf(kind), kind.kind);
  checkPlace(draft, target);
  checkNamespace(server, target, draft.metadata.name);
  const fresh = identified(server, draft, target);
  const rule = ruleOf(kind);
  const scene = { store: server.store, time: timeOf(server), suffix: suffixOf(fresh.metadata.uid), kind };
  const made = rule.create?.(fresh, scene) ?? fresh;
  const refusal = rule.admit?.(made, scene);
  if (refusal !== undefined) throw refusal;
  judge(kind, made);
  const there = server.store.get(kind.table, keyOf(made.metadata.namespace, made.metadata.name));
  if (there !== undefined)
    throw alreadyExists(kind, made.metadata.name, there.metadata.deletionTimestamp !== undefined);
  const { uid } = fresh.metadata;
  const item = managed(
    server,
    kind,
    undefined,
    { ...made, metadata: { ...made.metadata, uid, resourceVersion: "" } },
    options,
  );
  return { item: options.dryRun ? item : server.store.put(kind.table, item), warnings };
};
