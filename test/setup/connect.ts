/** What a PySpark program needs to talk to a Spark Connect server: the client's own libraries, once per list of versions. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir, command, intoPlace, type Part } from "./part.ts";

const requirements = join(import.meta.dirname, "connect-client.txt");

/** A folder for PYTHONPATH; the part `connect` provides it. */
export const connectClient = async (): Promise<string> => {
  const hash = createHash("sha256").update(await readFile(requirements));
  return join(cacheDir(), "connect", hash.digest("hex").slice(0, 16));
};

export const connect: Part = {
  name: "connect",
  why: "the libraries of PySpark's Connect client, for a real query to a SparkConnect server",
  sizeHint: "80 MB to download, 330 MB on disk; half a minute",
  needs: ["spark"],
  isReady: async () => existsSync(join(await connectClient(), "grpc")),
  install: async (say) => {
    say("download and unpack");
    await intoPlace(await connectClient(), async (dir) => {
      const options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-compile",
        "--no-cache-dir",
        "--disable-pip-version-check",
      ];
      await command("python3", ["-m", "pip", "install", ...options, "--target", dir, "-r", requirements]);
    });
  },
};
