/**
 * `npm run crds`: writes the files made from code: the registry's lists, CRDs, the installation, the chart, the docs' tables.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
for (const name of readdirSync(join(here, "crds"))) {
  if (files.every(({ path }) => path !== `crds/${name}`)) rmSync(join(here, "crds", name));
}
put(files);
