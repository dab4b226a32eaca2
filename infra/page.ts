/** Builds the client of the page: a script with its parts and one style sheet, as texts and as `dist/page/page.json`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build, type Plugin } from "esbuild";
import type { PageFiles } from "../shared/deployments/page/files.ts";

const root = join(import.meta.dirname, "..");

/** Builds script, parts and style without writing them. */
export const buildPage = async (): Promise<PageFiles> => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { page: "shared/page/main.tsx", style: "shared/page/page.css" },
    outdir: "dist/page",
    chunkNames: "page-[name]-[hash]",
    bundle: true,
    splitting: true,
    metafile: true,
    format: "esm",
    platform: "browser",
    target: ["es2022"],
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    write: false,
    logLevel: "silent",
  });
  const text = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  const { imports = [] } = metafile.outputs["dist/page/page.js"] ?? {};
  const first = new Set(imports.flatMap(({ path, kind }) => (kind === "import-statement" ? [basename(path)] : [])));
  const parts = outputFiles.flatMap(({ path, text: part }) => {
    const name = basename(path);
    return name.startsWith("page-") ? [{ name, text: part, isLater: !first.has(name) }] : [];
  });
  return { script: text("/page.js"), style: text("style.css"), parts };
};

/** The page as the bundles of this process hold it. */
let inside: Promise<PageFiles> | undefined;

/** Puts the built client into a bundle, in place of the module that reads `dist/page`. */
export const pageInside: Plugin = {
  name: "the page's client as texts",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/shared\/deployments\/page\/files\.ts$/ }, async () => {
      inside ??= buildPage();
      const files = JSON.stringify(await inside);
      return { contents: `const files = ${files};\nexport const pageFiles = async () => files;`, loader: "js" };
    });
  },
};

/** Writes `dist/page`, from which the sources serve the page. */
export const writePage = async (): Promise<void> => {
  const files = await buildPage();
  mkdirSync(join(root, "dist/page"), { recursive: true });
  writeFileSync(join(root, "dist/page/page.json"), JSON.stringify(files));
};

if (import.meta.main) await writePage();
