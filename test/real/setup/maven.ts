/** Jars from Maven Central, as a `pom.xml` pins them: a folder in the cache per content of that file. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir, command, intoPlace, type Part, type Programs } from "./part.ts";

export type Jars = Pick<Part, "name" | "why" | "sizeHint"> & {
  /** Name of the folder in the cache. */
  readonly folder: string;
  readonly pom: string;
  /** Programs that are needed besides Maven. */
  readonly programs: Programs;
};

/** Returns the folder of the jars; the part fills it. */
export const jarsFolder = async ({ folder, pom }: Pick<Jars, "folder" | "pom">): Promise<string> =>
  join(
    cacheDir(),
    folder,
    createHash("sha256")
      .update(await readFile(pom))
      .digest("hex")
      .slice(0, 16),
  );

export const jarsPart = (jars: Jars): Part => ({
  name: jars.name,
  why: jars.why,
  sizeHint: jars.sizeHint,
  needs: [],
  programs: { mvn: "maven", ...jars.programs },
  isReady: async () => existsSync(await jarsFolder(jars)),
  install: async (say) => {
    say("downloading with Maven");
    const fill = async (dir: string): Promise<void> => {
      await copyFile(jars.pom, join(dir, "pom.xml"));
      const goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=."];
      await command("mvn", ["-q", "-B", ...goal], { cwd: dir });
    };
    await intoPlace(await jarsFolder(jars), fill, { say, of: jars.sizeHint });
  },
});
