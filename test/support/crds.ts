/** The definitions of `infra/crds` and `infra/optional-crds`, parsed once in a process. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parse } from "yaml";
import type { Obj } from "../../shared/core/object.ts";

const infra = join(import.meta.dirname, "..", "..", "infra");

/** Each definition as its file has it, with its group. */
export const crdFiles: readonly { readonly group: string; readonly text: string }[] = globSync(
  ["crds/*.yaml", "optional-crds/*/*.yaml"],
  { cwd: infra },
)
  .sort()
  .map((file) => ({ group: basename(file).split("_")[0] ?? "", text: readFileSync(join(infra, file), "utf8") }));

export const crds: readonly Obj[] = crdFiles.map(({ text }) => parse(text));
