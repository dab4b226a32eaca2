/** Puts one function's part of dist/ into a folder: all that its bundle may load, and nothing else. For `sam build`. */
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Metafile } from "esbuild";
import { loadedBy } from "../bundle.ts";

const [logicalId = "", into = ""] = process.argv.slice(2);
const name = logicalId.toLowerCase();
const root = join(import.meta.dirname, "..", "..");
const meta: Metafile = JSON.parse(readFileSync(join(root, "dist", "meta.json"), "utf8"));
if (meta.outputs[`dist/${name}.mjs`] === undefined) throw new Error(`dist/ has no function ${name}: npm run build`);

for (const file of loadedBy(meta, name).ever.files) {
  const place = join(into, relative("dist", file));
  mkdirSync(dirname(place), { recursive: true });
  copyFileSync(join(root, file), place);
}
