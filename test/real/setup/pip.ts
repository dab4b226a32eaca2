/** Python packages, as a list of versions pins them: a folder in the cache per content of that list. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir, intoPlace, type Part, type Programs, pipInstall } from "./part.ts";

export type Packages = Pick<Part, "name" | "why" | "sizeHint" | "needs"> & {
  /** File with one `name==version` a line, including all dependencies. */
  readonly requirements: string;
  /** A path in the folder that exists when it is complete. */
  readonly holds: string;
  readonly programs: Programs;
};

/** Returns a folder for PYTHONPATH; the part fills it. */
export const packagesFolder = async ({
  name,
  requirements,
}: Pick<Packages, "name" | "requirements">): Promise<string> => {
  const hash = createHash("sha256").update(await readFile(requirements));
  return join(cacheDir(), name, hash.digest("hex").slice(0, 16));
};

const options = ["--no-deps", "--only-binary=:all:", "--no-compile", "--no-cache-dir", "--disable-pip-version-check"];

export const packagesPart = (packages: Packages): Part => ({
  name: packages.name,
  why: packages.why,
  sizeHint: packages.sizeHint,
  needs: packages.needs,
  programs: packages.programs,
  isReady: async () => existsSync(join(await packagesFolder(packages), packages.holds)),
  install: async (say) => {
    say("download and unpack");
    await intoPlace(
      await packagesFolder(packages),
      (dir) => pipInstall(dir, [...options, "--target", dir, "-r", packages.requirements]),
      { say, of: packages.sizeHint },
    );
  },
});
