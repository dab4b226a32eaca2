/** The definitions of `infra/crds`, parsed once in a process. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Obj } from "../../shared/core/object.ts";

const folder = join(import.meta.dirname, "..", "..", "infra", "crds");

/** Each definition as its file has it, with its group. */
export const crdFiles: readonly { readonly group: string; readonly text: string }[] = readdirSync(folder)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => ({ group: file.split("_")[0] ?? "", text: readFileSync(join(folder, file), "utf8") }));

export const crds: readonly Obj[] = crdFiles.map(({ text }) => parse(text));
