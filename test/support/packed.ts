/** The package as `npm pack` makes it, of a fresh build: the clone's `dist` may be outdated. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { buildLibraries } from "../../infra/library.ts";
import { builtFor } from "./build.ts";

const root = join(import.meta.dirname, "..", "..");

const packed = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);

export const npm = (cwd: string, ...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" });
  assert.equal(status, 0, `npm ${args.join(" ")}: ${stderr}`);
  return stdout;
};

/** Packs into the folder, which must not exist. */
export const pack = async (
  staged: string,
): Promise<{ readonly tarball: string; readonly files: readonly string[] }> => {
  const listed = z
    .object({ files: z.array(z.string()) })
    .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  for (const path of ["package.json", ...listed.files.filter((file) => !/^!?dist/.test(file))])
    cpSync(join(root, path), join(staged, path), { recursive: true });
  await builtFor(join(staged, "dist"));
  await buildLibraries(join(staged, "dist"));
  const [{ filename, files }] = packed.parse(JSON.parse(npm(staged, "pack", "--json", "--ignore-scripts")));
  return { tarball: join(staged, filename), files: files.map(({ path }) => path) };
};
