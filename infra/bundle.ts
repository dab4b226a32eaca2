/** Bundles the functions, and lists the modules that a bundle loads: at once, and only when it needs them. */
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { basename, dirname, join, relative, resolve } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";
import * as z from "zod";
import { pageInside } from "./page.ts";
import { staticChunk } from "./static-chunk.ts";

const root = join(import.meta.dirname, "..");

/** The oldest Node that the bundles run on, from package.json. */
export const floor = z
  .object({ engines: z.object({ node: z.templateLiteral([">=", z.string()]) }) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")))
  .engines.node.slice(2);

/** Names of the functions, one deployable per file. */
export const functionNames = (): readonly string[] =>
  globSync("functions/*.ts", { cwd: root })
    .map((file) => basename(file, ".ts"))
    .sort();

/** Refuses a Node below the floor. Each function's file imports it first, so that it is evaluated before everything else. */
const gate = `const [a, b] = process.versions.node.split(".").map(Number), [c, d] = "${floor}".split(".").map(Number);
if (a < c || (a === c && b < d)) {
  console.error(\`rekindle: needs Node ${floor} or later (this is \${process.versions.node})\`);
  process.exit(1);
}
`;

/** The build makes JSON schemas, functions never do; zod's part for them would be a tenth of each bundle. */
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

/**
 * Node's own modules by `process.getBuiltinModule`, in dependencies, too. An `import` of one makes a module with all its
 * exports, and so reads every one of them: for node:http that loads the whole of undici.
 */
const builtinsAsTheyAre: Plugin = {
  name: "builtins without their module namespaces",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(node:)?[a-z0-9_]+(\/[a-z0-9_]+)*$/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace: "builtin" } : undefined,
    );
    onLoad({ filter: /^/, namespace: "builtin" }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
    }));
  },
};

/** The reader of kubeconfigs in the Kubernetes client. By the package's index each build would read 1,500 files more. */
const reader = join(root, "node_modules", "@kubernetes", "client-node", "dist", "config.js");
/**
 * Parts by which the Kubernetes client would send requests, with the names that its reader of kubeconfigs imports of them.
 * With the libraries of proxies each command would load 85 kB more.
 */
const absent: Readonly<Record<string, readonly string[]>> = {
  undici: ["Agent", "ProxyAgent"],
  hpagent: ["HttpProxyAgent", "HttpsProxyAgent"],
  socks: ["SocksClient"],
  "socks-proxy-agent": ["SocksProxyAgent"],
  "./gen/index.js": ["createConfiguration", "ServerConfiguration"],
};

/** Of the Kubernetes client its reader of kubeconfigs alone, because Rekindle sends requests by node:https. */
const kubeconfigsAlone: Plugin = {
  name: "the reader of kubeconfigs alone",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({ path: reader, sideEffects: false }));
    const names = Object.keys(absent).map((name) => name.replaceAll(".", "\\."));
    onResolve({ filter: new RegExp(`^(${names.join("|")})$`) }, ({ path, importer }) =>
      importer === reader ? { path, namespace: "absent", sideEffects: false } : undefined,
    );
    onLoad({ filter: /^/, namespace: "absent" }, ({ path }) => ({
      contents: `class Absent { constructor() { throw new Error(${JSON.stringify(`${path} is not part of this bundle`)}); } }
export { ${(absent[path] ?? []).map((name) => `Absent as ${name}`).join(", ")} };`,
    }));
  },
};

/** The options of esbuild for all bundles. */
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
  // Below the floor on purpose: an older Node must be able to parse the file that refuses it.
  target: "node18",
  minify: true,
  metafile: true,
  legalComments: "none",
  plugins: [withoutJsonSchemas, builtinsAsTheyAre, kubeconfigsAlone, hostAlone, pageInside],
  logLevel: "silent",
});

/** A bundle's files: contents by path relative to the repository, with esbuild's account of them. */
type Built = { readonly meta: Metafile; readonly files: ReadonlyMap<string, Uint8Array> };

/** Puts the gate before each function, in the files and in esbuild's account of them. */
const gated = ({ meta, files }: Built, names: readonly string[], outdir: string): Built => {
  const file = relative(root, resolve(root, outdir, "gate.mjs"));
  const first = Buffer.from('import "./gate.mjs";\n');
  const outputs = { ...meta.outputs, [file]: { bytes: gate.length, inputs: {}, imports: [], exports: [] } };
  const contents = new Map(files).set(file, Buffer.from(gate));
  for (const name of names) {
    const entry = relative(root, resolve(root, outdir, `${name}.mjs`));
    const [output, text] = [meta.outputs[entry], files.get(entry)];
    if (output === undefined || text === undefined) throw new Error(`esbuild made no ${entry}`);
    const imports = [{ path: file, kind: "import-statement" as const }, ...output.imports];
    outputs[entry] = { ...output, imports, bytes: output.bytes + first.length };
    contents.set(entry, Buffer.concat([first, text]));
  }
  return { meta: { ...meta, outputs }, files: contents };
};

/** Replaces a file in one rename, so that a starting process reads either contents; equal contents stay. */
export const put = (path: string, contents: Uint8Array): void => {
  if (existsSync(path) && readFileSync(path).equals(contents)) return;
  mkdirSync(dirname(path), { recursive: true });
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, contents);
  renameSync(beside, path);
};

/**
 * Functions with chunks of their own: a process of them often starts for one event, and its start is most of what it
 * costs. A host among the command line's chunks would start by reading some 180 files.
 */
const alone: readonly string[] = [
  ...["admission", "api", "bell", "deliver", "forward", "host", "reconcile", "resync", "submitter", "wake"],
];

/** The command line takes the host from the host's own file. */
const hostAlone: Plugin = {
  name: "the host in its own file",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/host\.ts$/ }, ({ importer }) =>
      importer.endsWith("/functions/cli.ts") ? { path: "./host.mjs", external: true } : undefined,
    );
  },
};

const builtWith = async (options: BuildOptions): Promise<Built> => {
  const { metafile, outputFiles = [] } = await build({ ...options, write: false });
  if (metafile === undefined) throw new Error("esbuild gave no metafile");
  return { meta: metafile, files: new Map(outputFiles.map(({ path, contents }) => [relative(root, path), contents])) };
};

/** Builds functions one by one; esbuild's account of all of them tells which modules each loads before its first event. */
const builtAlone = async (names: readonly string[], outdir: string): Promise<readonly Built[]> => {
  if (names.length === 0) return [];
  const { meta } = await builtWith(bundleOptions(names, outdir));
  return await Promise.all(
    names.map((name) => {
      const options = bundleOptions([name], outdir);
      const gathered = staticChunk(meta, `functions/${name}.ts`, root);
      return builtWith({ ...options, plugins: [gathered, ...(options.plugins ?? [])] });
    }),
  );
};

const together = (all: readonly Built[]): Built => ({
  meta: {
    inputs: Object.assign({}, ...all.map(({ meta }) => meta.inputs)),
    outputs: Object.assign({}, ...all.map(({ meta }) => meta.outputs)),
  },
  files: new Map(all.flatMap(({ files }) => [...files])),
});

/** Bundles functions, most of them together, so that shared modules are one chunk; writes nothing. */
export const bundled = async (names = functionNames(), outdir = "dist"): Promise<Built> => {
  const shared = names.filter((name) => !alone.includes(name));
  const [first, others] = await Promise.all([
    shared.length === 0 ? [] : [await builtWith(bundleOptions(shared, outdir))],
    builtAlone(
      names.filter((name) => alone.includes(name)),
      outdir,
    ),
  ]);
  const built = gated(together([...first, ...others]), names, outdir);
  // A function's file comes after the chunks that it imports: a process that starts meanwhile finds them.
  const isEntry = (path: string): boolean => names.includes(basename(path, ".mjs"));
  const ordered = [...built.files].toSorted(([a], [b]) => Number(isEntry(a)) - Number(isEntry(b)));
  return { meta: built.meta, files: new Map(ordered) };
};

/** Bundles functions into `outdir`. */
export const bundle = async (names = functionNames(), outdir = "dist"): Promise<Metafile> => {
  const { meta, files } = await bundled(names, outdir);
  for (const [path, contents] of files) put(join(root, path), contents);
  return meta;
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

/** The modules that one function loads: by its static imports, before the first event; and ever. */
export const loadedBy = (meta: Metafile, name: string): Loaded => {
  const entry = `dist/${name}.mjs`;
  return {
    atOnce: reach(meta, entry, (kind) => kind !== "dynamic-import"),
    ever: reach(meta, entry, () => true),
  };
};
