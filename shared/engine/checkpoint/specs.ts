/**
 * The spec of an object in its record, with secrets masked, and its latest changes, for people: each as the merge patch
 * that leads back to the spec before. No decision reads them, and no save is made for them. Pure.
 */
import * as z from "zod";
import { isTooMuch, jsonOf, mergePatch } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { maskSecrets } from "../../core/secret-mask.ts";
import type { SpecChange, Specs } from "../ports.ts";

/** The most changes, and the most bytes of a spec, of one change, and of all changes. */
const most = 10;
const longestSpec = 16_384;
const longestChange = 4_096;
const longestOfAll = 12_288;

/** The field of a record. */
export const specsShape = z.object({
  generation: z.int(),
  spec: z.string(),
  changes: z.array(z.tuple([z.int(), z.string()])).optional(),
});

const fitting = (text: string, bytes: number): string => (Buffer.byteLength(text) <= bytes ? text : "");

/** The spec as JSON, with secrets masked; "" where it is too large. */
const textOf = ({ spec }: Stored): string =>
  isTooMuch(spec) ? "" : fitting(JSON.stringify(maskSecrets(spec ?? {})), longestSpec);

/** The patch that leads from a spec back to the one before; "" where either, or the patch, is too large. */
const wayBack = (from: string, to: string): string =>
  from === "" || to === "" ? "" : fitting(JSON.stringify(mergePatch(jsonOf(from), jsonOf(to))) ?? "", longestChange);

/** The latest changes that fit. */
const bounded = (changes: readonly SpecChange[]): readonly SpecChange[] => {
  let room = longestOfAll;
  const first = changes.findLastIndex(([, patch]) => {
    room -= patch.length;
    return room < 0;
  });
  return changes.slice(Math.max(first + 1, changes.length - most));
};

/** Returns the specs of a record that is saved with this object; `now` in epoch ms. */
export const specsAfter = (before: Specs | undefined, object: Stored | undefined, now: number): Specs | undefined => {
  const generation = object?.metadata.generation;
  if (object === undefined || generation === undefined || before?.generation === generation) return before;
  const spec = textOf(object);
  const { changes = [] } = before ?? {};
  const isNew = before !== undefined && (before.spec !== spec || spec === "");
  const next = isNew ? bounded([...changes, [Math.floor(now / 1_000), wayBack(spec, before.spec)]]) : changes;
  return { generation, spec, ...(next.length === 0 ? {} : { changes: next }) };
};
