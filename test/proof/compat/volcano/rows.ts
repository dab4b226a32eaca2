/** Reads recorded rows of Volcano's own code: one JSON value per line, plain or gzipped, in any files. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { isRecord, type Json } from "../compare.ts";

export type Recorded = { readonly file: string; readonly rows: readonly Json[] };

const textOf = (path: string): string => {
  const bytes = readFileSync(path);
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
};

/** Lists all files of rows below the folder, by their names without endings. */
export const recordedIn = (data: string): readonly Recorded[] =>
  globSync("volcano/**/*.{jsonl,jsonl.gz}", { cwd: data })
    .sort()
    .map((path) => ({
      file: basename(path).replace(/\.jsonl(\.gz)?$/, ""),
      rows: textOf(join(data, path))
        .split("\n")
        .filter((line) => line.trim() !== "")
        .map((line): unknown => JSON.parse(line))
        .filter(isRecord),
    }));

export const recordIn = (value: Json, field: string): Json => {
  const inner = value[field];
  return isRecord(inner) ? inner : {};
};

export const listIn = (value: Json, field: string): readonly Json[] => {
  const inner = value[field];
  return Array.isArray(inner) ? inner.filter(isRecord) : [];
};

export const textIn = (value: Json, field: string): string => `${value[field] ?? ""}`;

export const numberIn = (value: Json, field: string): number => Number(value[field] ?? 0);
