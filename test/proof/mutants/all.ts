/** The mutants of all rooms. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./mutants.ts";
import { mutantsIn } from "./table.ts";

/** The files of `tables/`, in the order in which their mutants run. */
export const tables = [
  ...["engine", "upstream", "apache", "updates", "volcano", "denied-pods", "evictions", "gangs", "natives", "kueue"],
  ...["elastic", "nodes", "kept-logs", "tenants", "ports", "shares", "makers", "recoveries", "readings", "recordings"],
  ...["foreign-controllers", "dispatcher", "nats", "spec-changes", "page", "page-verdicts", "command-line"],
  ...["watched-pods", "windows", "bell", "sign-in", "logins"],
] as const;

export const mutants: readonly Mutant[] = tables.flatMap((name) =>
  mutantsIn(readFileSync(join(import.meta.dirname, "tables", `${name}.txt`), "utf8")),
);
