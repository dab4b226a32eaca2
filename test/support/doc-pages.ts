/** The pages of `infra/docs`, as `rekindle docs` reads them. */
import { globSync, readFileSync } from "node:fs";
import type { Page } from "../../shared/cli/io/tools.ts";

const root = new URL("../../", import.meta.url);

export const docPages: readonly Page[] = globSync("infra/docs/**/*.md", {
  cwd: root,
}).map((path) => ({ path, text: readFileSync(new URL(path, root), "utf8") }));
