/** POST: creates an object. */

import type { Kind } from "../schema/kinds.ts";
import { rootFaults, statusFaults } from "../schema/structural.ts";
import { isFields } from "../storage/json.ts";
import { type Draft, type Item, metaFaults, metaOf } from "../storage/metadata.ts";
import {
  alreadyExists,
  badRequest,
  forbidden,
  internal,
  invalid,
  methodNotAllowed,
  notFound,
} from "../storage/refusal.ts";
import { keyOf } from "../storage/store.ts";
import { mutated, validated } from "./admission.ts";
import { managed, readDraft } from "./body.ts";
import { chargeQuotas, overQuota } from "./quotas.ts";
import { nextUid, type Server, suffixOf, type Target, timeOf, type WriteOptions } from "./request.ts";
import { ruleOf } from "./rules.ts";

export type Written = { readonly item: Item; readonly warnings: readonly string[] };

/** Throws when the object violates the rules of its kind. */
export const judge = (kind: Kind, draft: Draft, sub?: string): void => {
  const schema = kind.custom?.schema;
  const custom = schema === undefined ? [] : sub === "status" ? statusFaults(schema, draft) : rootFaults(schema, draft);
  const causes = [...metaFaults(kind.table, draft.metadata), ...(ruleOf(kind).faults?.(draft) ?? []), ...custom];
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

/** A new object keeps its status only where its kind has no status subresource. */
const withoutStatus = (kind: Kind, body: unknown): unknown => {
  if (!kind.status || !isFields(body)) return body;
  const { status, ...rest } = body;
  return rest;
};

/** Creates the object, or throws the refusal. */
export const create = (server: Server, target: Target, body: unknown, options: WriteOptions): Written => {
  const { kind } = target;
  const { draft, warnings } = readDraft(kind, withoutStatus(kind, body), options, "whole");
  checkPlace(draft, target);
  checkNamespace(server, target, draft.metadata.name);
  const fresh = identified(server, draft, target);
  const rule = ruleOf(kind);
  const context = { store: server.store, time: timeOf(server), suffix: suffixOf(fresh.metadata.uid), kind };
  const made = rule.create?.(fresh, context) ?? fresh;
  const refusal = rule.admit?.(made, context);
  if (refusal !== undefined) throw refusal;
  const { uid } = fresh.metadata;
  const first: Item = { ...made, metadata: { ...made.metadata, uid, resourceVersion: "" } };
  const change = { kind, operation: "CREATE", sub: undefined, old: undefined } as const;
  const { object: whole, warnings: said } = mutated(server, { ...change, object: first }, options);
  judge(kind, whole);
  const warned = [...warnings, ...said, ...validated(server, { ...change, object: whole }, options)];
  const excess = overQuota(server, kind, whole);
  if (excess !== undefined) throw excess;
  const there = server.store.get(kind.table, keyOf(made.metadata.namespace, made.metadata.name));
  if (there !== undefined)
    throw alreadyExists(kind, made.metadata.name, there.metadata.deletionTimestamp !== undefined);
  const item = managed(server, kind, undefined, whole, options);
  if (options.dryRun) return { item, warnings: warned };
  chargeQuotas(server, kind, item);
  return { item: server.store.put(kind.table, item), warnings: warned };
};
