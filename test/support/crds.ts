/** The definitions of `infra/crds`, parsed once in a process. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Obj } from "../../shared/core/object.ts";

const folder = join(import.meta.dirname, "..", "..", "infra", "crds");

export const crds: readonly Obj[] = readdirSync(folder).map((file) => parse(readFileSync(join(folder, file), "utf8")));
