/**
 * Bodies of writes as objects of their kind: recognised, decoded, pruned and filled up with defaults; and
 * metadata.managedFields, the managers of their fields, kept through every write.
 */

import { metadataFields } from "../../kube/unknown-fields.ts";
import { apiVersionOf, type Kind } from "../schema/kinds.ts";
import {
  changesBetween,
  keepKnownFields,
  leavesOf,
  minus,
  plus,
  readSet,
  type Share,
  writeSet,
} from "../schema/shapes.ts";
import { defaulted, pruneRoot } from "../schema/structural.ts";
import { type Fields, fieldsAt, isFields, same, textAt } from "../storage/json.ts";
import { type Draft, draftOf, type Item, metaOf } from "../storage/metadata.ts";
import { badRequest, cause, invalid, Mistyped, type Refusal } from "../storage/refusal.ts";
import { type Server, timeOf, type WriteOptions } from "./request.ts";

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
const readBody = (kind: Kind, body: unknown): Fields => {
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

type Shaped = { readonly fields: Fields; readonly warnings: readonly string[] };

/** Unknown metadata fields are named before all others. */
const unknownMeta = (fields: Fields): readonly string[] =>
  Object.keys(fieldsAt(fields, "metadata"))
    .filter((key) => !metadataFields.has(key))
    .map((key) => `metadata.${key}`);

const decoded = (kind: Kind, fields: Fields): { readonly fields: Fields; readonly dropped: readonly string[] } => {
  const schema = kind.custom?.schema;
  if (schema === undefined) return keepKnownFields(kind, fields);
  const { object, dropped } = pruneRoot(schema, fields);
  return { fields: object, dropped };
};

/** The origin of a body: a whole object, the result of a patch, or the configuration of an apply. */
export type BodyOrigin = "whole" | "patched" | "applied";

/** A decoder's error as a refusal. For the result of a patch it is an error of the patch. */
const asRefusal = (kind: Kind, error: unknown, how: BodyOrigin): unknown => {
  if (!(error instanceof Mistyped)) return error;
  if (how === "patched")
    return invalid({ group: "", plural: "", kind: "" }, "", [cause.invalid("patch", {}, error.message)]);
  return badRequest(`${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${error.message}`);
};

const shaped = (kind: Kind, given: Fields, { strict }: WriteOptions, how: BodyOrigin): Shaped => {
  const { fields, dropped } = decoded(kind, given);
  const words = [...unknownMeta(given), ...dropped].map((path) => `unknown field "${path}"`);
  if (strict === "Strict" && words.length > 0) throw new Mistyped(`strict decoding error: ${words.join(", ")}`);
  const schema = kind.custom?.schema;
  const full = schema === undefined || how === "applied" ? fields : defaulted(schema, fields);
  return { fields: isFields(full) ? full : fields, warnings: strict === "Warn" ? words : [] };
};

export type Read = { readonly draft: Draft; readonly warnings: readonly string[] };

/** A body as an object of its kind: decoded, pruned and, unless it is an apply, with its defaults. */
export const readDraft = (kind: Kind, body: unknown, options: WriteOptions, how: BodyOrigin): Read => {
  try {
    const { fields, warnings } = shaped(kind, readBody(kind, body), options, how);
    return { draft: draftOf(fields, apiVersionOf(kind), kind.kind), warnings };
  } catch (error) {
    throw asRefusal(kind, error, how);
  }
};

const shareOf = (entry: unknown): Share => ({
  manager: textAt(entry, "manager") ?? "",
  operation: textAt(entry, "operation") === "Apply" ? "Apply" : "Update",
  apiVersion: textAt(entry, "apiVersion") ?? "",
  time: textAt(entry, "time") ?? "",
  subresource: textAt(entry, "subresource") ?? "",
  set: readSet(isFields(entry) ? entry["fieldsV1"] : undefined),
});

export const sharesOf = (item: Draft | undefined): readonly Share[] =>
  (item?.metadata.managedFields ?? []).map(shareOf);

const entryOf = ({ manager, operation, apiVersion, time, subresource, set }: Share) => ({
  manager,
  operation,
  apiVersion,
  time,
  fieldsType: "FieldsV1",
  fieldsV1: writeSet(set),
  ...(subresource !== "" && { subresource }),
});

/** An object with these shares; unchanged ones keep their time. */
export const withShares = (item: Item, before: readonly Share[], shares: readonly Share[]): Item => {
  const { uid, resourceVersion } = item.metadata;
  const kept = shares
    .filter(({ set }) => set.size > 0)
    .map((share) => {
      const old = before.find((each) => sameOwner(each, share));
      return old !== undefined && same([...old.set].sort(), [...share.set].sort()) ? old : share;
    });
  const managedFields = kept.length > 0 ? kept.map(entryOf) : undefined;
  return { ...item, metadata: { ...metaOf({ ...item.metadata, managedFields }), uid, resourceVersion } };
};

export const sameOwner = (a: Share, b: Share): boolean =>
  a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource;

const updated = (server: Server, kind: Kind, before: Item | undefined, after: Item, options: WriteOptions): Item => {
  const { set, gone } = changesBetween(leavesOf(kind, before ?? {}), leavesOf(kind, after));
  const old = sharesOf(before);
  const touched = plus(set, gone);
  const mine: Share = {
    manager: options.manager,
    operation: "Update",
    apiVersion: apiVersionOf(kind),
    time: timeOf(server),
    subresource: options.subresource ?? "",
    set,
  };
  const others = old
    .filter((share) => !sameOwner(share, mine))
    .map((share) => ({ ...share, set: minus(share.set, touched) }));
  const own = old.find((share) => sameOwner(share, mine))?.set ?? new Set();
  return withShares(after, old, [...others, { ...mine, set: plus(minus(own, gone), set) }]);
};

/** A client that sends one empty entry gives up all ownership. */
const resets = (after: Item): boolean => {
  const [first, ...rest] = after.metadata.managedFields ?? [];
  return first !== undefined && rest.length === 0 && same(first, {});
};

/**
 * The object with the ownership after this write. Where no client has ever applied, ownership is kept only if the
 * simulator's options ask for it: nothing depends on it, and it costs as much as the rest of a write.
 */
export const managed = (
  server: Server,
  kind: Kind,
  before: Item | undefined,
  after: Item,
  options: WriteOptions,
): Item => {
  if (options.shares !== undefined) return withShares(after, sharesOf(before), options.shares);
  const tracked = server.managedFields || (before?.metadata.managedFields?.length ?? 0) > 0;
  if (!tracked) return after;
  if (resets(after)) return withShares(after, [], []);
  return updated(server, kind, before, after, options);
};
