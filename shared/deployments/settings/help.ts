/** The settings as people read them: help, and what is in force with where it came from. */
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

/** Help text: one line per setting, and per flag that is none. */
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

/** YAML's own words and marks need quotes to stay text. */
const quoted = (text: string): string => (/^[\w./,=-]+$/.test(text) ? text : JSON.stringify(text));

const isFile = (value: unknown): value is { readonly file: string } =>
  typeof value === "object" && value !== null && "file" in value;

/** As it was written: a text, a value of a file, or a secret's file; of a secret nothing else. */
const shown = (name: SettingName, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (rowOf(name).secret === true) return isFile(value) ? `${fileName(name)}File: ${quoted(value.file)}` : undefined;
  if (Array.isArray(value) && value.every((one) => typeof one === "string"))
    return `${fileName(name)}: ${quoted(value.join(","))}`;
  const text = typeof value === "object" ? JSON.stringify(value) : quoted(String(value));
  return `${fileName(name)}: ${text}`;
};

/** Values in force with their origin, as a YAML file that could be read back. */
export const effectiveText = (said: ReadonlyMap<SettingName, Written>): string => {
  const rows = ofHost.map((name) => {
    const written = said.get(name);
    const line = shown(name, written === undefined ? defaultOf(name, "host") : written.value);
    return { line: line ?? `# ${fileName(name)}:`, origin: written?.origin ?? "default" };
  });
  const width = Math.max(...rows.map(({ line }) => line.length));
  return rows.map(({ line, origin }) => `${line.padEnd(width)}  # ${origin}`).join("\n");
};
