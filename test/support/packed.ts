/** The package as `npm pack` makes it, of a fresh build: the clone's `dist` may be outdated. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { buildLibraries } from "../../infra/library.ts";
import { builtFor, keyOf, madeOnce, sources } from "./build.ts";

const root = join(import.meta.dirname, "..", "..");

const manifest = z.object({ files: z.array(z.string()) });
const packed = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);

export const npm = (cwd: string, ...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" });
  assert.equal(status, 0, `npm ${args.join(" ")}: ${stderr}`);
  return stdout;
};

const pack = async (staged: string, listed: readonly string[]): Promise<void> => {
  for (const path of listed) cpSync(join(root, path), join(staged, path), { recursive: true });
  await builtFor(join(staged, "dist"));
  await buildLibraries(join(staged, "dist"));
  writeFileSync(join(staged, "packed.json"), npm(staged, "pack", "--json", "--ignore-scripts"));
};

/** Returns the tarball and the paths in it; the first test that needs them packs. */
export const openTarball = async (): Promise<{ readonly tarball: string; readonly files: readonly string[] }> => {
  const { files: all } = manifest.parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
  const listed = ["package.json", ...all.filter((file) => !/^!?dist/.test(file))];
  const folder = await madeOnce(`${keyOf([...sources, "tsconfig.json", ...listed])}.packed`, (staged) =>
    pack(staged, listed),
  );
  const [{ filename, files }] = packed.parse(JSON.parse(readFileSync(join(folder, "packed.json"), "utf8")));
  return { tarball: join(folder, filename), files: files.map(({ path }) => path) };
};
