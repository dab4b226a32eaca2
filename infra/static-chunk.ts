/**
 * Gathers the modules that a function loads before its first event in one or two chunks. esbuild puts two modules into one chunk
 * only if the same entries reach both; every dynamic import is an entry, so it would make some seventy files of them,
 * and a cold start links and compiles each.
 */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Loader, Metafile, Plugin } from "esbuild";

const gathering = "static modules of the function";

type Modules = {
  /** Modules that the function imports statically, without its own file. */
  readonly first: ReadonlySet<string>;
  /** Modules that it imports dynamically only. */
  readonly later: ReadonlySet<string>;
};

/** Returns the modules that the function loads. A module of which nothing is used is in no output, and so in neither set. */
const modulesOf = ({ inputs, outputs }: Metafile, entry: string): Modules => {
  const own = Object.keys(outputs).find((file) => outputs[file]?.entryPoint === entry);
  if (own === undefined) throw new Error(`esbuild made no output of ${entry}`);
  const files = new Set([own]);
  for (const file of files)
    for (const { path, kind, external } of outputs[file]?.imports ?? [])
      if (external !== true && kind !== "dynamic-import") files.add(path);
  const first = new Set([...files].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {})));
  const dynamic = Object.values(inputs).flatMap(({ imports }) =>
    imports.filter(({ kind, external }) => external !== true && kind === "dynamic-import").map(({ path }) => path),
  );
  const later = new Set(dynamic.filter((path) => !first.has(path)));
  first.delete(entry);
  return { first, later };
};

/** Returns a specifier of a module in esbuild's account: of a file, or of one of Node's own modules. */
const specifierOf = (input: string): string => /^builtin:(.+)$/.exec(input)?.[1] ?? `./${input}`;

const loaderOf = (path: string): Loader => (path.endsWith(".ts") ? "ts" : "js");

/**
 * The plugin for the second build of `entry`, made from esbuild's account of the first: each module that is imported
 * dynamically also imports all that the function imports statically, and so every entry reaches these.
 */
export const staticChunk = (meta: Metafile, entry: string, root: string): Plugin => {
  const { first, later } = modulesOf(meta, entry);
  const imports = [...first].map((input) => `import ${JSON.stringify(specifierOf(input))};`).join("\n");
  return {
    name: "static modules in one chunk",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: new RegExp(`^${gathering}$`) }, ({ path }) => ({ path, namespace: "gathering" }));
      onLoad({ filter: /^/, namespace: "gathering" }, () => ({ contents: imports, resolveDir: root }));
      onLoad({ filter: /\.(ts|m?js)$/, namespace: "file" }, ({ path }) =>
        later.has(relative(root, path))
          ? { contents: `${readFileSync(path, "utf8")}\nimport "${gathering}";\n`, loader: loaderOf(path) }
          : undefined,
      );
    },
  };
};
