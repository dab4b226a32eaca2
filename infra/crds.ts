/**
 * `npm run crds`: writes the files made from code: the registry's lists, CRDs, the installation, the chart, the docs' tables.
 */
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { registryFiles } from "./registry.ts";

const here = import.meta.dirname;

const put = (files: readonly { readonly path: string; readonly text: string }[]): void => {
  for (const { path, text } of files) {
    mkdirSync(dirname(join(here, path)), { recursive: true });
    writeFileSync(join(here, path), text);
    console.log(`infra/${path}  ${text.length} bytes`);
  }
};

// The lists come first: the code that makes everything else imports them.
put(await registryFiles());
const { generated } = await import("./generated.ts");
const files = await generated();
put(files);
for (const path of globSync(["crds/*", "optional-crds/*/*"], { cwd: here })) {
  if (files.every((one) => one.path !== path)) rmSync(join(here, path));
}
