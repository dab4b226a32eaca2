/** Builds the client of the page: one script and one style sheet, as texts and as the files of `dist/page`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import type { PageFiles } from "../shared/deployments/page/files.ts";

const root = join(import.meta.dirname, "..");

/** Builds script and style without writing them. */
export const buildPage = async (): Promise<PageFiles> => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { page: "shared/page/main.tsx", style: "shared/page/page.css" },
    outdir: "dist/page",
    bundle: true,
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
  return { script: text("page.js"), style: text("style.css") };
};

/** Puts the built client into a bundle, in place of the module that reads `dist/page`. */
export const pageInside: Plugin = {
  name: "the page's client as texts",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/shared\/deployments\/page\/files\.ts$/ }, async () => {
      const files = JSON.stringify(await buildPage());
      return { contents: `const files = ${files};\nexport const pageFiles = async () => files;`, loader: "js" };
    });
  },
};

/** Writes `dist/page`, from which the sources serve the page. */
export const writePage = async (): Promise<void> => {
  const { script, style } = await buildPage();
  mkdirSync(join(root, "dist/page"), { recursive: true });
  writeFileSync(join(root, "dist/page/page.js"), script);
  writeFileSync(join(root, "dist/page/page.css"), style);
};

if (import.meta.main) await writePage();
