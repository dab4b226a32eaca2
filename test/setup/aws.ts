/** cfn-lint and the SAM command line, which judge and build the template of infra/aws, once per list of versions. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir, command, intoPlace, type Part } from "./part.ts";
import { installPrograms } from "./programs.ts";

const requirements = join(import.meta.dirname, "aws-tools.txt");

/** A folder for PYTHONPATH; the part `aws` provides it. */
export const awsTools = async (): Promise<string> => {
  const hash = createHash("sha256").update(await readFile(requirements));
  return join(cacheDir(), "aws", hash.digest("hex").slice(0, 16));
};

export const aws: Part = {
  name: "aws",
  why: "cfn-lint and the SAM command line, for the template of infra/aws",
  sizeHint: "342 MB on disk; a minute, with pip and make",
  needs: [],
  isReady: async () => existsSync(join(await awsTools(), "samcli")),
  install: async (say) => {
    await installPrograms({ python3: "python3", pip3: "python3-pip", make: "make" }, say);
    say("download and unpack");
    await intoPlace(await awsTools(), async (dir) => {
      const options = [
        ...["--no-deps", "--only-binary=:all:", "--no-compile", "--no-cache-dir", "--disable-pip-version-check"],
        ...["--target", dir, "-r", requirements],
      ];
      await command("python3", ["-m", "pip", "install", ...options]);
    });
  },
};
