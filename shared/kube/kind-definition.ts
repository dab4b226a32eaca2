/** The part of a kind that its CRD is generated from: columns, schemas of spec and status, and their limits. */
import type * as z from "zod";

/** Keywords of OpenAPI by the path of a field; `[]` stands for the items of a list, `{}` for the values of a map. */
export type Limits = Readonly<Record<string, { readonly [keyword: string]: unknown }>>;

/** A column of `kubectl get`. */
export type Column = {
  readonly name: string;
  readonly type: "string" | "boolean" | "date" | "integer";
  readonly jsonPath: string;
  readonly priority?: number;
};

export type KindDefinition = {
  readonly columns: readonly Column[];
  /** Absent: its fields stand beside the metadata. */
  readonly spec?: z.ZodType;
  readonly fields?: Readonly<Record<string, z.ZodType>>;
  readonly status?: z.ZodType;
  /** The status has no subresource: it is written with the rest of the object. */
  readonly plainStatus?: true;
  /** Further constraints of fields beside their types, by their path from the object. */
  readonly limits?: Limits;
  readonly annotations?: Readonly<Record<string, string>>;
};

export const ageColumn: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
