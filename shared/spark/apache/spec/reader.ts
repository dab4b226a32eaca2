/** How the specs of Apache's kinds are read: limits, types, then the rules of the kind. The stored object stays as its user wrote it. */
import type * as z from "zod";
import { oncePer } from "../../../core/cache.ts";
import { withoutNulls } from "../../../core/json.ts";
import { explain, reportingInput } from "../../../kube/schema.ts";

/** A spec with warnings about fields that have no effect, or all its errors in one text. */
export type ReadSpec<Spec> =
  | { readonly ok: true; readonly spec: Spec; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly message: string };

type Named = {
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
  readonly [field: string]: unknown;
};

type Rules<Spec> = {
  /** Returns "" or the limit that the spec passes. */
  readonly limits: (spec: unknown) => string;
  readonly schema: z.ZodType<Spec>;
  readonly rulesOf: (name: string, spec: Spec) => readonly string[];
  readonly warningsOf: (spec: Spec) => readonly string[];
};

/** Checks limits and types first, because rules apply to typed specs only. A null counts as absent. */
export const specReader = <Spec>({ limits, schema, rulesOf, warningsOf }: Rules<Spec>) =>
  oncePer(({ metadata, spec }: Named): ReadSpec<Spec> => {
    const beyond = limits(spec);
    if (beyond !== "") return { ok: false, message: beyond };
    const typed = schema.safeParse(withoutNulls(spec ?? {}), reportingInput);
    if (!typed.success) return { ok: false, message: explain(typed.error) };
    const broken = rulesOf(metadata.name, typed.data);
    return broken.length > 0
      ? { ok: false, message: broken.join("; ") }
      : { ok: true, spec: typed.data, warnings: warningsOf(typed.data) };
  });
