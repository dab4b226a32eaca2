/** All rows of the catalogue. */
import { pods } from "./pods.ts";
import type { Row } from "./row.ts";
import { rules } from "./rules.ts";
import { shapes } from "./shapes.ts";

export const rows: readonly Row[] = [...shapes, ...rules, ...pods];
