/** ElasticMQ, a queue server of somebody else's that speaks SQS, as `test/queue/pom.xml` pins it. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir, command, intoPlace, type Part } from "./part.ts";
import { installPrograms, type Programs } from "./programs.ts";

const pom = join(import.meta.dirname, "..", "queue", "pom.xml");
const needed: Programs = { mvn: "maven", java: "openjdk-17-jre-headless" };

/** Folder of the jars; the part `queue` fills it. */
export const elasticMqJars = async (): Promise<string> =>
  join(
    cacheDir(),
    "elasticmq",
    createHash("sha256")
      .update(await readFile(pom))
      .digest("hex")
      .slice(0, 16),
  );

export const queue: Part = {
  name: "queue",
  why: "ElasticMQ, an SQS server of somebody else's, for the queue's conformance and for functions end to end",
  sizeHint: "39 jars, 37 MB; 20 s, with Maven and Java",
  needs: [],
  isReady: async () => existsSync(await elasticMqJars()),
  install: async (say) => {
    await installPrograms(needed, say);
    say("downloading with Maven");
    await intoPlace(await elasticMqJars(), async (dir) => {
      await copyFile(pom, join(dir, "pom.xml"));
      const goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=."];
      await command("mvn", ["-q", "-B", ...goal], { cwd: dir });
    });
  },
};
