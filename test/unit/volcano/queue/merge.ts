/** Applies a merge patch (RFC 7386) to an object, as an API server does. */
import type { Stored } from "../../../../shared/core/object.ts";

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const merged = (before: Fields, patch: Fields): Fields => {
  const changes = Object.entries(patch).map(([name, value]): [string, unknown] => {
    const there = before[name];
    return [name, isFields(value) ? merged(isFields(there) ? there : {}, value) : value];
  });
  const all = { ...before, ...Object.fromEntries(changes) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
};

export const applyPatch = (object: Stored, patch: unknown): Stored =>
  isFields(patch) ? { ...object, ...merged(object, patch) } : object;
