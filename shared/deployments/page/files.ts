/**
 * The client of the page as the browser loads it: one script and one style sheet. A bundle holds both as texts, because
 * the build replaces this file; the sources read what `infra/page.ts` has built.
 */
import { readFile } from "node:fs/promises";

export type PageFiles = { readonly script: string; readonly style: string };

const built = new URL("../../../dist/page/", import.meta.url);

export const pageFiles = async (): Promise<PageFiles> => {
  const [script, style] = await Promise.all(
    ["page.js", "page.css"].map((name) =>
      readFile(new URL(name, built), "utf8").catch((cause: unknown) => {
        throw new Error(`dist/page/${name} is missing: run npm run build`, { cause });
      }),
    ),
  );
  return { script: script ?? "", style: style ?? "" };
};
