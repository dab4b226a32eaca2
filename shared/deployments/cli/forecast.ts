/**
 * Forecasts of a migration: the submissions that Rekindle would make for objects of another controller, and the
 * handling of its flags. Pure.
 */
import type { FlagView, Forecast } from "../../cli/io/tools.ts";
import type { Stored } from "../../core/object.ts";
import { timing } from "../../engine/settings.ts";
import { parseSpec } from "../../spark/schema/rules.ts";
import { submit } from "../../spark/submission/submit.ts";
import { volcanoForecast } from "../../volcano/forecast.ts";
import { operatorsFor } from "../common/operators.ts";
import { flagName } from "../settings/table.ts";
import { type Row, rows, understood } from "../settings/upstream-flags.ts";
import { volcanoRows } from "../settings/volcano-flags.ts";

/** The kinds that hosts of this version run. */
export const runs: readonly string[] = operatorsFor(timing).map(({ kind }) => kind);

const sparkForecast = (object: Stored): Forecast => {
  const read = parseSpec(object);
  if (!read.ok) return { refused: read.message, notes: [] };
  const { name, namespace = "default", uid, labels = {}, annotations = {} } = object.metadata;
  const app = { name, namespace, uid, labels, annotations };
  const apiServer = "https://kubernetes.default.svc";
  const made = submit({ app, spec: read.spec, attempt: 1, submittedAt: 0, apiServer });
  return "refused" in made ? { refused: made.refused, notes: [] } : { refused: undefined, notes: made.notes };
};

/** Returns the forecast of an object: of an application's next submission, or of a Volcano object. */
export const forecast = (object: Stored): Forecast =>
  object.apiVersion.startsWith("sparkoperator.k8s.io/") ? sparkForecast(object) : volcanoForecast(object);

const tables: Readonly<Record<"spark" | "volcano", readonly Row[]>> = { spark: rows, volcano: volcanoRows };

/**
 * Returns the handling of a flag, given as `--name=value` or `--name` as in the Deployment of upstream's controller.
 */
export const flagView = (text: string, family: "spark" | "volcano"): FlagView => {
  const table = tables[family];
  const [, name = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  const read = understood(name, value, table);
  if (read === undefined)
    return table.some(({ flag }) => flag === name)
      ? { is: "taken", says: "give it to rekindle host, too" }
      : { is: "refused", says: `flag --${name}: no flag of upstream's that is known here` };
  if (read.is === "written") return { is: "taken", says: `rekindle host --${flagName(read.name)}=${read.value}` };
  if (read.is === "part") return { is: "taken", says: `rekindle host --${flagName("admissionReach")}` };
  if (read.is === "nothing") return { is: "taken", says: "asks for nothing" };
  return read.is === "note"
    ? { is: "ignored", says: read.text }
    : { is: "refused", says: `flag --${name}: ${read.text}` };
};
