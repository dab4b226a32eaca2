/**
 * The client of the page as the browser loads it: a script with its parts, and one style sheet. A bundle holds them as
 * texts, because the build replaces this file; the sources read what `infra/page.ts` has built.
 */
import { readFile } from "node:fs/promises";
import * as z from "zod";

const shape = z.object({
  script: z.string(),
  style: z.string(),
  /** Files that the script imports by name: at once, or `isLater`. */
  parts: z.array(z.object({ name: z.string(), text: z.string(), isLater: z.boolean() })),
});

export type PageFiles = z.infer<typeof shape>;

const built = new URL("../../../dist/page/page.json", import.meta.url);

export const pageFiles = async (): Promise<PageFiles> => {
  const text = await readFile(built, "utf8").catch((cause: unknown) => {
    throw new Error("dist/page/page.json is missing: run npm run build", { cause });
  });
  return shape.parse(JSON.parse(text));
};
