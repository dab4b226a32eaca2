/**
 * The spec of an object in its record and its latest changes, for people: each as the merge patch that leads back to the
 * spec before. A spec may hold secrets anywhere, so a record has of most texts only a digest of 16 bits, which tells that a
 * text changed. No decision reads them, and no save is made for them. Pure.
 */
import * as z from "zod";
import { isRecord, isTooMuch, jsonOf, mergePatch } from "../../core/json.ts";
import { digest } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
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

/** Fields whose texts cannot be secrets. */
const told: ReadonlySet<string> = new Set([
  ...["type", "mode", "image", "imagePullPolicy", "sparkVersion", "pythonVersion", "mainClass", "restartPolicy.type"],
  ...["driver.image", "driver.serviceAccount", "executor.image", "executor.serviceAccount"],
  ...["batchScheduler", "batchSchedulerOptions.queue"],
]);

/** A quantity, a number or a truth value. */
const plain = /^(|true|false|\d{1,9}(\.\d{1,3})?[A-Za-z]{0,2})$/;

/** The value with a digest in place of each text that may be a secret. */
const discreet = (value: unknown, uid: string, path = ""): unknown => {
  if (typeof value === "string")
    return told.has(path) || plain.test(value) ? value : `#${digest(uid, path, value).slice(0, 4)}`;
  if (Array.isArray(value)) return value.map((item: unknown, at) => discreet(item, uid, `${path}[${at}]`));
  if (!isRecord(value)) return value;
  const fields = Object.entries(value);
  return Object.fromEntries(
    fields.map(([name, inner]) => [name, discreet(inner, uid, path === "" ? name : `${path}.${name}`)]),
  );
};

/** The spec as JSON; "" where it is too large. */
const textOf = ({ spec, metadata: { uid } }: Stored): string =>
  isTooMuch(spec) ? "" : fitting(JSON.stringify(discreet(spec ?? {}, uid)), longestSpec);

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
