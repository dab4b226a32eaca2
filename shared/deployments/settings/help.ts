/** The settings as people read them: help, reference page, and what is in force with where it came from. */
import { isRecord } from "../../kube/responses.ts";
import { defaultOf, fileName, flagName, isSwitch, type KeyName, keyNames, keys, variableName } from "./table.ts";

const units = [
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

const meaning = (key: KeyName): string => keys[key].description ?? "";

const besides = [
  { flag: "--config FILE", text: "read settings from this file (or $REKINDLE_CONFIG)" },
  { flag: "--print-config", text: "print what is in force, and where each value came from, and stop" },
];

/** Help text: one line per setting, and per flag that is none. */
export const helpLines = (): readonly string[] => {
  const settings = keyNames.map((key) => {
    const value = defaultOf(key);
    const shown = value === undefined || value === "" || value === "false" ? "" : ` (${value})`;
    return { flag: `--${flagName(key)}${isSwitch(key) ? "" : " VALUE"}`, text: `${meaning(key)}${shown}` };
  });
  const rows = [...settings, ...besides];
  const width = Math.max(...rows.map(({ flag }) => flag.length));
  return rows.map(({ flag, text }) => `  ${flag.padEnd(width)}  ${text}`);
};

const code = (text: string | undefined): string => (text === undefined || text === "" ? "" : `\`${text}\``);

/** The table of the reference page, its columns aligned. */
export const markdownTable = (): string => {
  const heads = ["file", "flag", "environment", "default", "meaning"];
  const rows = keyNames.map((key) => [
    code(fileName(key)),
    code(`--${flagName(key)}`),
    code(variableName(key)),
    code(defaultOf(key)),
    meaning(key),
  ]);
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [line(heads), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
};

/** A span in its largest whole unit. */
const spanText = (ms: number): string => {
  const [unit, size] = units.find((each) => ms >= each[1] && ms % each[1] === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
};

/** As it is written: a URL, or a namespace, a name and a port that is not the usual one. */
const placeText = (value: unknown): string => {
  if (!isRecord(value)) return "";
  if (typeof value["url"] === "string") return value["url"];
  if (isRecord(value["service"])) return placeText(value["service"]);
  const { namespace, name, port } = value;
  return `${namespace}/${name}${port === undefined || port === 443 ? "" : `:${port}`}`;
};

const shown = (key: KeyName, value: unknown): string => {
  if (value === undefined) return "";
  if (key === "admissionReach" || key === "admissionSecret") return placeText(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(",");
  if (typeof value === "object") return JSON.stringify(value);
  return key.endsWith("Ms") ? spanText(Number(value)) : String(value);
};

/** Effective values with their origin, as a YAML file that could be read back. */
export const effectiveText = (
  values: Readonly<Record<string, unknown>>,
  originOf: (key: KeyName) => string,
): string => {
  const rows = keyNames.map((key) => {
    const text = shown(key, values[key]);
    const name = fileName(key);
    return { line: values[key] === undefined ? `# ${name}:` : `${name}: ${quoted(text)}`, origin: originOf(key) };
  });
  const width = Math.max(...rows.map(({ line }) => line.length));
  return rows.map(({ line, origin }) => `${line.padEnd(width)}  # ${origin}`).join("\n");
};

/** YAML's own words and marks need quotes to stay text. */
const quoted = (text: string): string => (/^[\w./,=-]+$/.test(text) ? text : JSON.stringify(text));
