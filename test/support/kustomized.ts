/** The overlays of `infra/kubernetes`, put together as kustomize does: resources, JSON patches, and deletions. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import * as z from "zod";

const folder = join(import.meta.dirname, "..", "..", "infra", "kubernetes", "overlays");

const identity = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }) });

const operation = z.object({
  op: z.enum(["add", "remove", "replace"]),
  path: z.string(),
  value: z.unknown().optional(),
});
type Operation = z.infer<typeof operation>;

const kustomization = z.object({
  resources: z.array(z.string()),
  patches: z
    .array(z.object({ patch: z.string(), target: z.object({ kind: z.string(), name: z.string() }).optional() }))
    .default([]),
});

const namesIn = (path: string): readonly string[] =>
  path
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));

const changed = (value: unknown, [name = "", ...rest]: readonly string[], change: Operation): unknown => {
  const isLast = rest.length === 0;
  if (Array.isArray(value)) {
    if (!isLast) return value.with(Number(name), changed(value[Number(name)], rest, change));
    if (change.op === "add") return value.toSpliced(Number(name), 0, change.value);
    return value.toSpliced(Number(name), 1, ...(change.op === "remove" ? [] : [change.value]));
  }
  const fields = z.record(z.string(), z.unknown()).parse(value);
  if (!isLast) return { ...fields, [name]: changed(fields[name], rest, change) };
  const { [name]: _, ...others } = fields;
  return change.op === "remove" ? others : { ...fields, [name]: change.value };
};

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
    } else {
      const operations = z.array(operation).parse(content);
      objects = objects.map((object) =>
        isOf(object, target.kind, target.name)
          ? operations.reduce((before, change) => changed(before, namesIn(change.path), change), object)
          : object,
      );
    }
  }
  return objects;
};

/** Returns the objects of an overlay, by its name. */
export const overlaid = (name: string): readonly unknown[] => objectsIn(join(folder, name));
