/** What Rekindle would make of a SparkApplication that another controller runs today, found out by making it. Pure. */
import type { Forecast } from "../cli/tools.ts";
import type { Stored } from "../core/object.ts";
import { timing } from "../engine/settings.ts";
import { parseSpec } from "../spark/schema/parse.ts";
import { submit } from "../spark/submission/submit.ts";
import { operatorsFor } from "./world.ts";

/** The kinds that hosts of this version run. */
export const runs: readonly string[] = operatorsFor(timing).map(({ kind }) => kind);

export const forecast = (object: Stored): Forecast => {
  const read = parseSpec(object);
  if (!read.ok) return { refused: read.message, notes: [] };
  const { name, namespace = "default", uid, labels = {}, annotations = {} } = object.metadata;
  const app = { name, namespace, uid, labels, annotations };
  const apiServer = "https://kubernetes.default.svc";
  const made = submit({ app, spec: read.spec, attempt: 1, submittedAt: 0, apiServer });
  return "refused" in made ? { refused: made.refused, notes: [] } : { refused: undefined, notes: made.notes };
};
