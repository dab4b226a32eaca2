/**
 * Fields of an object that its schema does not have, as an API server names them under strict validation: it prunes
 * what the CRD of the same schema does not name, and keeps all of an object without named fields.
 */

import * as z from "zod";
import { isRecord } from "../core/json.ts";
import type { Obj } from "../core/object.ts";

/** The fields of `metadata`. */
export const metadataFields: ReadonlySet<string> = new Set([
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
]);

const below = (schema: z.core.$ZodType, value: unknown, path: string): readonly string[] => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return below(schema.unwrap(), value, path);
  if (schema instanceof z.ZodArray)
    return Array.isArray(value)
      ? value.flatMap((one: unknown, at) => below(schema.element, one, `${path}[${at}]`))
      : [];
  if (!isRecord(value)) return [];
  const entries = Object.entries(value);
  if (schema instanceof z.ZodRecord)
    return entries.flatMap(([name, one]) => below(schema.valueType, one, `${path}.${name}`));
  if (!(schema instanceof z.ZodObject) || Object.keys(schema.shape).length === 0) return [];
  const fields = new Map<string, z.core.$ZodType>(Object.entries(schema.shape));
  return entries.flatMap(([name, one]) => {
    const field = fields.get(name);
    return field === undefined ? [`${path}.${name}`] : below(field, one, `${path}.${name}`);
  });
};

const rootFields: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "spec", "status"]);

/** The paths of an object's unknown fields; `schema` is that of its spec. */
export const unknownFieldsIn = (object: Obj, schema: z.ZodType): readonly string[] => [
  ...Object.keys(object).filter((name) => !rootFields.has(name)),
  ...Object.keys(object.metadata).flatMap((name) => (metadataFields.has(name) ? [] : [`metadata.${name}`])),
  ...below(schema, object.spec, "spec"),
];
