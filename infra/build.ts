/**
 * `npm run build`: functions/*.ts become dist/*.mjs, with large and rarely needed modules in chunks of their own.
 * `-- --library`, for `npm pack`, also builds the exports of the package.
 */
import { globSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { bundle, functionNames, loadedBy } from "./bundle.ts";
import { buildLibraries } from "./library.ts";

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0).padStart(6)} kB`;

const { values } = parseArgs({ options: { library: { type: "boolean" } } });
process.chdir(new URL("..", import.meta.url).pathname);
const meta = await bundle();
for (const file of globSync("dist/**/*.mjs")) if (!(file in meta.outputs)) rmSync(file);
writeFileSync("dist/meta.json", JSON.stringify(meta));
for (const name of functionNames()) {
  const { atOnce, ever } = loadedBy(meta, name);
  console.log(`dist/${`${name}.mjs`.padEnd(16)} ${kilobytes(atOnce.bytes)} at once ${kilobytes(ever.bytes)} in all`);
}
if (values.library) await buildLibraries("dist");
