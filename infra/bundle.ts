/** How the functions are bundled, and what a bundle loads: at once, and only when it is needed. */
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "..");

/** Names of the functions, one deployable per file. */
export const functionNames = (): readonly string[] =>
  globSync("functions/*.ts", { cwd: root })
    .map((file) => basename(file, ".ts"))
    .sort();

/** CommonJS inside an ES module still asks for `require`. */
const banner =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);';

/** JSON schemas are made here and never in a function; zod's part for them, which every schema names, would be a tenth of a bundle. */
const withoutJsonSchemas: Plugin = {
  name: "without JSON schemas",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/ }, ({ path }) => {
      const names = [...readFileSync(path, "utf8").matchAll(/^export (?:function|const) (\w+)/gm)].map(
        ([, name]) => name,
      );
      const absent = "const absent = () => { throw new Error('no JSON schema is made at run time'); };";
      return { contents: `${absent}\nexport { ${names.map((name) => `absent as ${name}`).join(", ")} };` };
    });
  },
};

/** As esbuild is asked for all bundles. */
export const bundleOptions = (names: readonly string[], outdir: string): BuildOptions => ({
  absWorkingDir: root,
  entryPoints: names.map((name) => `functions/${name}.ts`),
  outdir,
  outExtension: { ".js": ".mjs" },
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  // The CommonJS form of a package, which Node would take first, has no named exports once it is a lazy chunk.
  mainFields: ["module", "main"],
  target: "node22",
  minify: true,
  metafile: true,
  legalComments: "none",
  banner: { js: banner },
  plugins: [withoutJsonSchemas],
  logLevel: "silent",
});

/** Bundles functions together, so that what they share is one chunk. `write` puts them into dist/, or into another folder. */
export const bundle = async (write: boolean, names = functionNames(), outdir = "dist"): Promise<Metafile> => {
  const { metafile } = await build({ ...bundleOptions(names, outdir), write });
  if (metafile === undefined) throw new Error("esbuild gave no metafile");
  return metafile;
};

type Chunks = { readonly files: readonly string[]; readonly bytes: number; readonly inputs: readonly string[] };
export type Loaded = { readonly atOnce: Chunks; readonly ever: Chunks };

const reach = (meta: Metafile, entry: string, follow: (kind: string) => boolean): Chunks => {
  const files = new Set([entry]);
  for (const file of files) {
    for (const found of meta.outputs[file]?.imports ?? []) {
      if (!found.external && follow(found.kind)) files.add(found.path);
    }
  }
  const outputs = [...files].flatMap((file) => meta.outputs[file] ?? []);
  return {
    files: [...files],
    bytes: outputs.reduce((sum, output) => sum + output.bytes, 0),
    inputs: outputs.flatMap((output) => Object.keys(output.inputs)),
  };
};

/** What one function loads: by its static imports, before the first event; and ever. */
export const loadedBy = (meta: Metafile, name: string): Loaded => {
  const entry = `dist/${name}.mjs`;
  return {
    atOnce: reach(meta, entry, (kind) => kind !== "dynamic-import"),
    ever: reach(meta, entry, () => true),
  };
};
