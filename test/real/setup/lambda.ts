/** The real runtime interface client of Lambda, under which a bundle runs in the cloud; built once per lock file. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir, command, intoPlace, type Part, type Programs } from "./part.ts";

const sources = join(import.meta.dirname, "..", "lambda", "runtime");
const files = ["package.json", "package-lock.json"];

/** The programs that compile it. */
const compilers: Programs = { cmake: "cmake", "g++": "g++", make: "make", python3: "python3" };

const place = async (): Promise<string> => {
  const hash = createHash("sha256").update(process.versions.modules);
  for (const file of files) hash.update(`${file}\0`).update(await readFile(join(sources, file)));
  return join(cacheDir(), "lambda", hash.digest("hex").slice(0, 16));
};

const packageOf = (dir: string): string => join(dir, "node_modules", "aws-lambda-ric");

/** Returns the program that an environment runs; the part `lambda` provides it. */
export const runtimeClient = async (): Promise<string> => join(packageOf(await place()), "index.mjs");

export const lambda: Part = {
  name: "lambda",
  why: "aws-lambda-ric, the client by which Lambda runs a function, for tests of the bundles as they are deployed",
  sizeHint: "19 MB; compiled in about a minute, with cmake, g++, make and python3",
  needs: [],
  programs: compilers,
  isReady: async () => existsSync(join(packageOf(await place()), "rapid-client.node")),
  install: async (say) => {
    say("npm ci, which compiles its native half");
    await intoPlace(await place(), async (dir) => {
      for (const file of files) await copyFile(join(sources, file), join(dir, file));
      await command("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts=false"], { cwd: dir });
    });
  },
};
