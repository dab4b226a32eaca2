/** All rows of the catalogue: those that are refused or warned of, and those that run. */
import { amounts } from "./amounts.ts";
import { confs } from "./confs.ts";
import type { Row } from "./row.ts";
import { shapes } from "./shapes.ts";

export type Bad = Extract<Row, { says: RegExp }>;
type Odd = Extract<Row, { runs: unknown }>;

export const rows: readonly Row[] = [...shapes, ...amounts, ...confs];

export const bad: readonly Bad[] = rows.filter((row): row is Bad => "says" in row);
export const odd: readonly Odd[] = rows.filter((row): row is Odd => "runs" in row);
