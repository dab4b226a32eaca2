/** Parses a stored SparkApplication into a trusted spec, or returns one message with the remedy. */
import { oncePer } from "../../core/memoize.ts";
import { explain, telling } from "../../kube/explain.ts";
import { type SparkApplicationSpec, specSchema } from "./application.ts";
import { applicationLimits } from "./limits.ts";
import { brokenRules } from "./rules.ts";

export type ParsedSpec =
  | { readonly ok: true; readonly spec: SparkApplicationSpec }
  | { readonly ok: false; readonly message: string };

type Application = {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
};

/** Checks limits and types first, because rules apply to typed specs only. */
export const parseSpec = oncePer((application: Application): ParsedSpec => {
  const beyond = applicationLimits(application["spec"]);
  if (beyond !== "") return { ok: false, message: beyond };
  const typed = specSchema.safeParse(application["spec"], telling);
  if (!typed.success) return { ok: false, message: explain(typed.error) };
  const { name, namespace = "default" } = application.metadata;
  const broken = brokenRules({ name, namespace, spec: typed.data });
  return broken.length === 0 ? { ok: true, spec: typed.data } : { ok: false, message: broken.join("; ") };
});
