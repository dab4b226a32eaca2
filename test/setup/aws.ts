/** cfn-lint and the SAM command line, which judge and build the template of infra/aws, once per list of versions. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir, command, intoPlace, type Part } from "./part.ts";
import { installPrograms } from "./programs.ts";

const requirements = join(import.meta.dirname, "aws-tools.txt");

/** Folder of a virtual environment; the part `aws` makes it. What pip made of its programs names another folder: it was moved. */
export const awsTools = async (): Promise<string> => {
  const hash = createHash("sha256").update(await readFile(requirements));
  return join(cacheDir(), "aws", hash.digest("hex").slice(0, 16));
};

export const aws: Part = {
  name: "aws",
  why: "cfn-lint and the SAM command line, for the template of infra/aws",
  sizeHint: "342 MB on disk; a minute, with python3-venv and make",
  needs: [],
  isReady: async () => existsSync(join(await awsTools(), "bin", "python")),
  install: async (say) => {
    await installPrograms({ python3: "python3", make: "make" }, say);
    say("download and unpack");
    await intoPlace(await awsTools(), async (dir) => {
      await command("python3", ["-m", "venv", dir]).catch((cause: unknown) => {
        throw new Error(`no virtual environment can be made; type:  apt-get install -y python3-venv (${cause})`);
      });
      const options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-compile",
        "--no-cache-dir",
        "--disable-pip-version-check",
      ];
      await command(join(dir, "bin", "python"), ["-m", "pip", "install", ...options, "-r", requirements]);
    });
  },
};
