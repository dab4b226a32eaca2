/** The definition that a CRD is generated from: names, columns, schemas of spec and status, and their limits. */
import type * as z from "zod";
import type { Resource } from "../shared/core/object.ts";
import type { Limits } from "./limits.ts";

export type Column = {
  readonly name: string;
  readonly type: "string" | "boolean" | "date" | "integer";
  readonly jsonPath: string;
  readonly priority?: number;
};

export type Definition = {
  readonly resource: Resource;
  readonly singular: string;
  readonly short: readonly string[];
  readonly columns: readonly Column[];
  /** Absent: its fields stand beside the metadata. */
  readonly spec?: z.ZodType;
  readonly fields?: Readonly<Record<string, z.ZodType>>;
  readonly status?: z.ZodType;
  /** Absent: namespaced. */
  readonly scope?: "Cluster";
  /** The status has no subresource: it is written with the rest of the object. */
  readonly plainStatus?: true;
  /** Further constraints of fields beside their types, by their path from the object. */
  readonly limits?: Limits;
  readonly annotations?: Readonly<Record<string, string>>;
};
