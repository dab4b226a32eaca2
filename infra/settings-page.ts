/** Tables of the page of settings: names, default and readers, places in each deployment, reasons for missing ones. */

import type { Reference, Target } from "../shared/deployments/settings/absence.ts";
import { type FunctionCaller, settingsOfOneCaller } from "../shared/deployments/settings/absence.ts";
import { reasonOf, reference } from "../shared/deployments/settings/reference.ts";
import {
  fileName,
  flagName,
  isReadBy,
  rowOf,
  type SettingName,
  settingNames,
  variableName,
} from "../shared/deployments/settings/table.ts";

const code = (text: string | undefined): string => (text === undefined || text === "" ? "" : `\`${text}\``);

/** Heads and rows. */
export type Table = readonly [heads: readonly string[], rows: readonly (readonly string[])[]];

const isSecret = (name: SettingName): boolean => rowOf(name).secret === true;

const namesOf = (name: SettingName): readonly string[] => {
  const { alias } = rowOf(name);
  const variables = [variableName(name), ...(isSecret(name) ? [`${variableName(name)}_FILE`] : [])];
  return [
    isSecret(name) ? `${code(fileName(name))}, ${code(`${fileName(name)}File`)}` : code(fileName(name)),
    isReadBy("host", name) ? code(`--${flagName(name)}`) : "",
    [...variables.map(code), ...(alias === undefined ? [] : [`formerly ${code(alias)}`])].join(", "),
  ];
};

const defaultText = (name: SettingName): string => {
  const { default: usual, functions } = rowOf(name);
  return functions === undefined ? code(usual) : `${code(usual)}; functions ${code(functions)}`;
};

const formText = ({ form, unit }: Reference): string => (unit === undefined ? form : `${form}, ${unit}`);

/** The meaning of each setting. */
export const settingMeanings = (): Table => [
  ["in a file", "flag", "variable", "form", "default", "read by", "meaning"],
  settingNames.map((name) => [
    ...namesOf(name),
    formText(reference[name]),
    defaultText(name),
    rowOf(name).readers.join(", "),
    reference[name].text,
  ]),
];

type Cell = (name: SettingName) => string;

const inChart: Cell = (name) => {
  const { value, valueOnly } = reference[name];
  if (isSecret(name)) return "Secret";
  const own = valueOnly === true ? [] : [`settings.${fileName(name)}`];
  return [...own, ...(value === undefined ? [] : [value])].map(code).join(", ");
};

const inTemplate: Cell = (name) => {
  const { parameter, made } = reference[name];
  if (made === true) return "made by the template";
  return parameter === undefined ? "`Settings`" : code(parameter);
};

const inMap: Cell = (name) => (isSecret(name) ? "Secret" : "ConfigMap");

const columns: readonly (readonly [head: string, target: Target, cell: Cell])[] = [
  ["Helm chart", "helm", inChart],
  ["kustomize, host", "hostOverlay", inMap],
  ["AWS template", "sam", inTemplate],
  ["kustomize, functions", "functionsOverlay", inMap],
];

/** The place of each setting in each deployment. */
export const settingPlaces = (): Table => [
  ["setting", ...columns.map(([head]) => head)],
  settingNames.map((name) => [
    code(fileName(name)),
    ...columns.map(([, target, cell]) => (reasonOf(name, target) === undefined ? cell(name) : "-")),
  ]),
];

const inMode = (name: SettingName, mode: "host" | "functions", caller?: FunctionCaller): string => {
  const only = caller === undefined ? undefined : settingsOfOneCaller[name];
  const other = only?.caller === caller ? undefined : only?.reason;
  const missing = reasonOf(name, mode) ?? other;
  return missing === undefined ? "yes" : `no: ${missing}`;
};

/** The settings that not all modes have: a host, functions on SQS or NATS, and functions that a dispatcher calls. */
export const settingModes = (): Table => [
  ["setting", "host", "functions on SQS or NATS", "functions that a dispatcher calls"],
  settingNames
    .map((name) => [inMode(name, "host"), inMode(name, "functions", "queue"), inMode(name, "functions", "dispatcher")])
    .flatMap((cells, at) =>
      cells.every((cell) => cell === "yes") ? [] : [[code(fileName(settingNames[at] ?? "")), ...cells]],
    ),
];

const targetNames: Readonly<Record<Target, string>> = {
  host: "a host",
  functions: "functions",
  helm: "the Helm chart",
  hostOverlay: "the overlay of the host",
  sam: "the AWS template",
  functionsOverlay: "the overlays of functions",
};

const isTarget = (name: string): name is Target => Object.hasOwn(targetNames, name);

/** Reasons by the place where they hold, each with its settings. */
export const settingReasons = (): string => {
  const grouped = new Map<string, string[]>();
  for (const name of settingNames)
    for (const [target, reason] of Object.entries(reference[name].absent ?? {})) {
      const where = isTarget(target) ? targetNames[target] : target;
      const line = `not in ${where}: ${reason}`;
      grouped.set(line, [...(grouped.get(line) ?? []), code(fileName(name))]);
    }
  return [...grouped].map(([line, names]) => `- ${names.join(", ")}: ${line}.`).join("\n");
};
