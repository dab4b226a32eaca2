/** `npm run crds`: writes infra/crds/*.yaml from the schemas. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { crdFiles } from "./definitions.ts";

const folder = join(import.meta.dirname, "crds");
const files = crdFiles();

mkdirSync(folder, { recursive: true });
for (const stale of readdirSync(folder).filter((name) => files.every(({ file }) => file !== name))) {
  rmSync(join(folder, stale));
}
for (const { file, object } of files) {
  const text = stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 });
  writeFileSync(join(folder, file), text);
  console.log(`infra/crds/${file}  ${text.length} bytes`);
}
