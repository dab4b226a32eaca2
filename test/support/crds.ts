/** The definitions of `infra/crds` and `infra/optional-crds`, parsed once in a process, by the reader that takes a third of the time. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { load } from "js-yaml";
import type { Obj } from "../../shared/core/object.ts";

const infra = join(import.meta.dirname, "..", "..", "infra");

/** Each definition as its file has it, with its group. */
export const crdFiles: readonly { readonly group: string; readonly text: string }[] = globSync(
  ["crds/*.yaml", "optional-crds/*/*.yaml"],
  { cwd: infra },
)
  .sort()
  .map((file) => ({ group: basename(file).split("_")[0] ?? "", text: readFileSync(join(infra, file), "utf8") }));

export const crds: readonly Obj[] = crdFiles.map(({ text }) => load(text) as Obj);
