/** The pages of `infra/docs`, as `rekindle docs` reads them. */
import { globSync, readFileSync } from "node:fs";

const root = new URL("../../", import.meta.url);

export const docPages: readonly { readonly path: string; readonly text: string }[] = globSync("infra/docs/**/*.md", {
  cwd: root,
}).map((path) => ({ path, text: readFileSync(new URL(path, root), "utf8") }));
