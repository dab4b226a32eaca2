/** The overlays of `infra/kubernetes`, put together as kustomize does: resources, JSON patches, and deletions. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import * as z from "zod";
import { jsonPatch } from "../../shared/simulator/schema/patch.ts";

const folder = join(import.meta.dirname, "..", "..", "infra", "kubernetes", "overlays");

const identity = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }) });

const kustomization = z.object({
  resources: z.array(z.string()),
  patches: z
    .array(z.object({ patch: z.string(), target: z.object({ kind: z.string(), name: z.string() }).optional() }))
    .default([]),
});

const isOf = (object: unknown, kind: string, name: string): boolean => {
  const { data } = identity.safeParse(object);
  return data?.kind === kind && data.metadata.name === name;
};

const objectsIn = (path: string): readonly unknown[] => {
  const file = ["kustomization.yaml", "Kustomization"].map((name) => join(path, name)).find(existsSync);
  if (file === undefined)
    return parseAllDocuments(readFileSync(path, "utf8")).map((document): unknown => document.toJS());
  const { resources, patches } = kustomization.parse(parse(readFileSync(file, "utf8")));
  let objects = resources.flatMap((name) => objectsIn(join(path, name)));
  for (const { patch, target } of patches) {
    const content: unknown = parse(patch);
    if (target === undefined) {
      const { kind, metadata } = identity.extend({ $patch: z.literal("delete") }).parse(content);
      objects = objects.filter((object) => !isOf(object, kind, metadata.name));
    } else
      objects = objects.map((object) => (isOf(object, target.kind, target.name) ? jsonPatch(object, content) : object));
  }
  return objects;
};

/** Returns the objects of an overlay, by its name. */
export const overlaid = (name: string): readonly unknown[] => objectsIn(join(folder, name));
