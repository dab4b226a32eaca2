/**
 * The submissions that Rekindle would make, without a cluster: for `rekindle render`, and as the forecast of a
 * migration from another controller, with the handling of its flags. Pure.
 */

import type { FlagView } from "../../cli/io/tools.ts";
import { apiVersionOf, type Obj, type Stored } from "../../core/object.ts";
import { timing } from "../../engine/settings.ts";
import { type Forecast, noForecast, type Rendered, type Rendering } from "../../kube/forecast.ts";
import type { Family } from "../../kube/resources.ts";
import { unknownFieldsIn } from "../../kube/unknown-fields.ts";
import { definitions } from "../../registry/definitions.ts";
import { defaultOptions } from "../../spark/auxiliary-objects/options.ts";
import { forecastFor, rendered } from "../common/forecasts.ts";
import { operatorsFor } from "../common/operators.ts";
import { apacheRows } from "../settings/apache-properties.ts";
import { sparkOptionsOf } from "../settings/conversions.ts";
import { readConfiguration } from "../settings/host.ts";
import { flagName } from "../settings/table.ts";
import { type Row, rows, understood, volcanoRows } from "../settings/upstream-flags.ts";

type Texts = Readonly<Record<string, string>>;

const unknownIn = (object: Obj): readonly string[] => {
  const schema = definitions.find(
    ({ kind: { resource } }) => resource.kind === object.kind && apiVersionOf(resource) === object.apiVersion,
  )?.spec;
  return schema === undefined ? [] : unknownFieldsIn(object, schema).map((path) => `unknown field "${path}"`);
};

/** Renders an object as a host with these settings would submit it; the environment is not read. */
export const render = async (object: Obj, { settings, ...of }: Rendering): Promise<Rendered> => {
  const unknown = unknownIn(object);
  if (unknown.length > 0)
    return { refused: `${unknown.join(", ")}: a field that is misspelt, or not known to Rekindle` };
  const read = await readConfiguration(settings, {});
  if (read.do === "run") return rendered(object, { ...of, options: sparkOptionsOf(read.configuration) });
  return { refused: read.do === "refuse" ? read.problems.join("; ") : "after --, write only settings of a host" };
};

/** Returns the refusal that an object would get at its submission, and what it would not get as it is written. */
export const check = (object: Obj): Forecast => forecastFor(object).created?.(object, defaultOptions) ?? noForecast;

/** The kinds that hosts of this version run. */
export const runs: readonly string[] = operatorsFor(timing).map(({ kind }) => kind);

/**
 * Returns the forecast of an object: of an application's next submission with `confs` below its own, or of a Volcano
 * object.
 */
export const forecast = (object: Stored, confs: Texts): Forecast =>
  forecastFor(object).takenOver?.(object, { ...defaultOptions, sparkDefaults: confs }) ?? noForecast;

const tables: Readonly<Record<Family, readonly Row[]>> = { spark: rows, volcano: volcanoRows, apache: apacheRows };

/**
 * Returns the handling of a flag, given as `--name=value` or `--name` as in the Deployment of upstream's controller.
 */
export const flagView = (text: string, family: Family): FlagView => {
  const table = tables[family];
  const [, name = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  const read = understood(name, value, table);
  if (read === undefined)
    return table.some(({ flag }) => flag === name)
      ? { is: "taken", says: "give it to rekindle host, too" }
      : { is: "refused", says: `flag --${name}: upstream has no such flag, or Rekindle does not know it` };
  if (read.is === "written") return { is: "taken", says: `rekindle host --${flagName(read.name)}=${read.value}` };
  if (read.is === "part") return { is: "taken", says: `rekindle host --${flagName("admissionReach")}` };
  if (read.is === "nothing") return { is: "taken", says: "needs no setting" };
  return read.is === "note"
    ? { is: "ignored", says: read.text }
    : { is: "refused", says: `flag --${name}: ${read.text}` };
};
