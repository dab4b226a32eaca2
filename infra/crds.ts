/** `npm run crds`: writes the files made from the schemas: CRDs, the installation, the chart, the docs' tables. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generated } from "./generated.ts";

const here = import.meta.dirname;
const files = await generated();

for (const name of readdirSync(join(here, "crds"))) {
  if (files.every(({ path }) => path !== `crds/${name}`)) rmSync(join(here, "crds", name));
}
for (const { path, text } of files) {
  mkdirSync(dirname(join(here, path)), { recursive: true });
  writeFileSync(join(here, path), text);
  console.log(`infra/${path}  ${text.length} bytes`);
}
