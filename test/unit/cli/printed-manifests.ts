/** The objects that `rekindle manifests` prints; those of the same arguments are parsed once in a process. */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import type { Obj } from "../../../shared/core/object.ts";
import { openTerminal } from "./terminal.ts";

type Printed = Obj & { readonly rules?: unknown };

const known = new Map<string, readonly Printed[]>();

export const printedManifests = async (...args: readonly string[]): Promise<readonly Printed[]> => {
  const key = args.join(" ");
  const before = known.get(key);
  if (before !== undefined) return before;
  const { code, out, err } = await openTerminal().run("manifests", ...args);
  assert.equal(code, 0, err);
  const objects: readonly Printed[] = parseAllDocuments(out).map((document) => document.toJS());
  known.set(key, objects);
  return objects;
};
