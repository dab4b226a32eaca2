/**
 * Resource groups as the `volcano-admission.conf` of Volcano's webhook server lists them: the pods of each, and the
 * fields written into them.
 */

import * as z from "zod";
import { isRecord } from "../core/json.ts";
import type { Json } from "./responses.ts";

/** Annotation that puts a pod into a group that names no key. */
const byName = "volcano.sh/resource-group";

type Pair = readonly [key: string, value: string];

const text = () => z.string({ error: "write a text" });
const texts = () => z.array(text(), { error: "write a list of texts" });

const toleration = () => {
  const each = text().optional();
  return z.strictObject(
    {
      ...{ key: each, operator: each, value: each, effect: each },
      tolerationSeconds: z.int({ error: "write a whole number" }).optional(),
    },
    { error: "write a toleration: key, operator, value, effect, tolerationSeconds" },
  );
};

const affinityError = 'write the affinity as an object or as its JSON, such as {"nodeAffinity": {}}';

/** The affinity of a group. Upstream's file holds it as a JSON text. */
const affinityIn = (given: unknown, context: z.RefinementCtx): Json | undefined => {
  if (given === undefined || given === null || given === "") return undefined;
  try {
    const read: unknown = typeof given === "string" ? JSON.parse(given) : given;
    if (isRecord(read)) return read;
  } catch {
    // Reported below.
  }
  context.addIssue(affinityError);
  return z.NEVER;
};

const unquoted = (value: string): string => {
  const isQuoted = value.length > 1 && ['"', "'"].some((quote) => value.startsWith(quote) && value.endsWith(quote));
  return isQuoted ? value.slice(1, -1) : value;
};

/** Reads `KEY: VALUE`, as one line of YAML. */
const pairOf = (line: string): Pair | undefined => {
  const at = line.indexOf(": ");
  const [key, value] = [line.slice(0, Math.max(at, 0)).trim(), line.slice(at + 2).trim()];
  return key === "" ? undefined : [unquoted(key), unquoted(value)];
};

const pair = () =>
  text().refine((line) => pairOf(line) !== undefined, {
    error: `write an annotation as KEY: VALUE, such as ${byName}: gpu`,
  });

const chosen = () =>
  z.discriminatedUnion(
    "key",
    [
      z.strictObject({ key: z.literal("namespace"), value: texts() }),
      z.strictObject({
        key: z.enum(["annotation", ""]),
        value: z.array(pair(), { error: "write a list of annotations" }),
      }),
    ],
    { error: "write key: namespace or key: annotation, and a list of values" },
  );

const unnamed = { key: "", value: [] };

/** Reads null as absent, as Go reads it as its zero value. */
const absent = (given: unknown): unknown => given ?? undefined;

const withDefaults = (given: unknown): unknown =>
  isRecord(given) ? { key: given["key"] ?? "", ...given, value: given["value"] ?? [] } : (given ?? unnamed);

const group = () =>
  z.strictObject(
    {
      resourceGroup: text().min(1, { error: "must not be empty" }),
      object: z.preprocess(withDefaults, chosen()),
      schedulerName: z.preprocess(absent, text().default("")),
      /** Labels of nodes. */
      labels: z.preprocess(
        absent,
        z.record(z.string(), text(), { error: "write labels of nodes, such as pool: gpu" }).default({}),
      ),
      tolerations: z.preprocess(absent, z.array(toleration(), { error: "write a list of tolerations" }).default([])),
      /** Written into pods that have none. */
      affinity: z.unknown().transform(affinityIn).optional(),
    },
    { error: "write a resource group: resourceGroup, object, schedulerName, labels, tolerations, affinity" },
  );

export type ResourceGroup = Readonly<z.infer<ReturnType<typeof group>>>;

const groups = () =>
  z.array(group(), {
    error: 'write a list of resource groups, such as [{"resourceGroup": "gpu", "labels": {"pool": "gpu"}}]',
  });

const placeOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");

/**
 * Parses a list of groups; each error names its place, such as `[0].tolerations`. A function, so that a cold start that
 * reads no groups builds no schema.
 */
export const resourceGroups = () =>
  z.unknown().transform((given, context): readonly ResourceGroup[] => {
    const read = groups().safeParse(given ?? []);
    if (read.success) return read.data;
    for (const { path, message } of read.error.issues)
      context.addIssue(path.length === 0 ? message : `${placeOf(path)}: ${message}`);
    return z.NEVER;
  });

/** The pods of a group: those of these namespaces, or those with any of these annotations. */
export type GroupPods =
  | { readonly by: "namespaces"; readonly names: readonly string[] }
  | { readonly by: "annotations"; readonly pairs: readonly Pair[] };

/** Returns the pods of a group. If it names no key, the annotation with the group's name counts, too. */
export const chosenBy = ({ resourceGroup, object: { key, value } }: ResourceGroup): GroupPods => {
  if (key === "namespace") return { by: "namespaces", names: value };
  const own: readonly Pair[] = key === "annotation" ? [] : [[byName, resourceGroup]];
  const pairs = value.map(pairOf).filter((one) => one !== undefined);
  return { by: "annotations", pairs: [...pairs, ...own] };
};
