/** The settings as text: the help, and the effective values with their origins. */
import { reference } from "./reference.ts";
import type { Written } from "./sources.ts";
import { defaultOf, fileName, flagName, isReadBy, isSwitch, rowOf, type SettingName, settingNames } from "./table.ts";

const ofHost: readonly SettingName[] = settingNames.filter((name) => isReadBy("host", name));

const besides = [
  { flag: "--config FILE", text: "read settings from this file (or $REKINDLE_CONFIG)" },
  { flag: "--print-config", text: "print what is in force, and where each value came from, and stop" },
];

const meaning = (name: SettingName): string =>
  rowOf(name).secret === true ? `file: ${reference[name].text}` : reference[name].text;

/** Returns the help: one line per setting, and per flag that is not a setting. */
export const helpLines = (): readonly string[] => {
  const settings = ofHost.map((name) => {
    const value = defaultOf(name, "host");
    const shown = value === undefined || value === "" || value === "false" ? "" : ` (${value})`;
    return { flag: `--${flagName(name)}${isSwitch(name) ? "" : " VALUE"}`, text: `${meaning(name)}${shown}` };
  });
  const rows = [...settings, ...besides];
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  return rows.map(({ flag, text }) => `  ${flag.padEnd(width)}  ${text}`);
};

/** Values that YAML 1.1 and 1.2 read as the text that they are: names, paths, lists, durations, sizes. */
const plain = /^([A-Za-z/][\w./,=-]*|\d+(ms|[smhd]|[KMGT]i?))$/;

/** Words that YAML 1.1 or 1.2 reads as a boolean or as nothing. */
const reserved = /^(true|false|yes|no|on|off|y|n|null)$/i;

/** Returns a text as YAML reads it back: with quotes where YAML would take it for something else. */
const quoted = (text: string): string => (plain.test(text) && !reserved.test(text) ? text : JSON.stringify(text));

const isNumber = (name: SettingName): boolean => /^\d+$/.test(defaultOf(name, "host") ?? "");

const isFile = (value: unknown): value is { readonly file: string } =>
  typeof value === "object" && value !== null && "file" in value;

/** Returns the line of a setting as it was written; for a secret its file, else undefined. */
const shown = (name: SettingName, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (rowOf(name).secret === true) return isFile(value) ? `${fileName(name)}File: ${quoted(value.file)}` : undefined;
  if (Array.isArray(value) && value.every((one) => typeof one === "string"))
    return `${fileName(name)}: ${quoted(value.join(","))}`;
  if (isSwitch(name) || isNumber(name)) return `${fileName(name)}: ${String(value)}`;
  const text = typeof value === "object" ? JSON.stringify(value) : quoted(String(value));
  return `${fileName(name)}: ${text}`;
};

/** Returns the effective values with their origins, as YAML that a host can read back. */
export const effectiveText = (said: ReadonlyMap<SettingName, Written>): string => {
  const rows = ofHost.map((name) => {
    const written = said.get(name);
    const line = shown(name, written === undefined ? defaultOf(name, "host") : written.value);
    return { line: line ?? `# ${fileName(name)}:`, origin: written?.origin ?? "default" };
  });
  const width = Math.max(...rows.map(({ line }) => line.length));
  return rows.map(({ line, origin }) => `${line.padEnd(width)}  # ${origin}`).join("\n");
};
