/** The changes of a spec that a record keeps, field by field: what was there before and after each. */
import * as z from "zod";
import { isRecord, jsonOf, same } from "../core/json.ts";
import { isInstant } from "../core/time.ts";
import type { RecordView } from "./record.ts";

const shape = z.object({
  spec: z.string(),
  changes: z.array(z.tuple([z.number().refine((at) => isInstant(at * 1_000)), z.string()])).default([]),
});

/** A field of a spec; an absent value is undefined. */
export type FieldChange = { readonly path: string; readonly before: unknown; readonly after: unknown };

export type SpecChange = {
  /** Epoch ms. */
  readonly at: number;
  /** Undefined: the change is too large to be kept, or one after it is. */
  readonly fields: readonly FieldChange[] | undefined;
};

/** The most fields of one change. */
const mostFields = 200;

/** Applies an RFC 7386 patch. */
const patched = (value: unknown, patch: unknown): unknown => {
  if (!isRecord(patch)) return patch;
  const fields = new Map(Object.entries(isRecord(value) ? value : {}));
  for (const [name, change] of Object.entries(patch))
    if (change === null) fields.delete(name);
    else fields.set(name, patched(fields.get(name), change));
  return Object.fromEntries(fields);
};

/** The entries of an object, and of a list by number. */
const partsOf = (value: unknown): ReadonlyMap<string, unknown> | undefined => {
  if (Array.isArray(value)) return new Map(value.map((item: unknown, at) => [`[${at}]`, item]));
  return isRecord(value) ? new Map(Object.entries(value).map(([name, item]) => [`.${name}`, item])) : undefined;
};

/** The fields that differ, the outermost ones where one side has none. */
const differing = (path: string, before: unknown, after: unknown): readonly FieldChange[] => {
  if (same(before, after)) return [];
  const [left, right] = [partsOf(before), partsOf(after)];
  if (left === undefined || right === undefined || Array.isArray(before) !== Array.isArray(after))
    return [{ path: path.replace(/^\./, ""), before, after }];
  const names = new Set([...left.keys(), ...right.keys()]);
  return [...names].sort().flatMap((name) => differing(`${path}${name}`, left.get(name), right.get(name)));
};

/** The latest changes, oldest first. */
export const specChangesOf = (record: RecordView | undefined): readonly SpecChange[] => {
  const { data } = shape.safeParse(record?.specs);
  if (data === undefined) return [];
  let after = data.spec === "" ? undefined : jsonOf(data.spec);
  const changes = data.changes.toReversed().map(([at, back]): SpecChange => {
    const patch = back === "" ? undefined : jsonOf(back);
    const before = after === undefined || patch === undefined ? undefined : patched(after, patch);
    const fields = before === undefined ? undefined : differing("", before, after).slice(0, mostFields);
    after = before;
    return { at: at * 1_000, fields };
  });
  return changes.toReversed();
};
