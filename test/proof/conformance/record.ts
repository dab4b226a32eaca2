/** The recorded answers of a real API server, kept beside the scenarios. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Line } from "./scenario.ts";

type Recorded = Line & { readonly scenario: string };

const file = new URL("real.jsonl", import.meta.url);

export const readRecord = (): readonly Recorded[] =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line): Recorded => JSON.parse(line));

export const writeRecord = (lines: readonly Recorded[]): void =>
  writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);

/** Returns the recorded answers of a scenario. */
export const linesOf = (record: readonly Recorded[], scenario: string): readonly Line[] =>
  record.filter((line) => line.scenario === scenario).map(({ name, said }) => ({ name, said }));
