/** Real Spark from its Python package, one SPARK_HOME per version, as `spark.lock.json` pins them. */
import { existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheDir, intoPlace, type Part, pipInstall, type Say } from "./part.ts";
import lock from "./spark.lock.json" with { type: "json" };

/** Only the Scala shell's client is left out of a SPARK_HOME: it is on no class path. */
const unneeded = ["jars/connect-repl"];

export const sparkVersions: readonly string[] = Object.keys(lock.versions);

/** Versions that only long proofs run. */
export const moreSparkVersions: readonly string[] = Object.keys(lock.more);

/** SPARK_HOME of a version: bin, sbin, jars, python, examples. */
export const sparkHome = (version: string): string => join(cacheDir(), "spark", version);

const sizeOfOne = "450 MB to download, 430 MB on disk";

/** True if this version is installed. */
export const isSparkThere = (version: string): boolean => existsSync(join(sparkHome(version), "bin", "spark-submit"));

/** The part that installs a version. */
export const partOf = (version: string): string => (moreSparkVersions.includes(version) ? "spark-more" : "spark");

const installVersion = async (version: string, sha256: string, say: Say): Promise<void> => {
  if (isSparkThere(version)) return;
  say(`${version}: download and unpack`);
  const fill = async (dir: string): Promise<void> => {
    const requirements = join(dir, "requirements.txt");
    await writeFile(requirements, `${lock.source}==${version} --hash=sha256:${sha256}\n`);
    const options = ["--no-deps", "--require-hashes", "--no-compile", "--no-cache-dir", "--disable-pip-version-check"];
    await pipInstall(dir, [...options, "--target", dir, "-r", requirements]);
    for (const path of unneeded) await rm(join(dir, "pyspark", path), { recursive: true, force: true });
    await rename(join(dir, "pyspark"), sparkHome(version));
  };
  await intoPlace(`${sparkHome(version)}.pip`, fill, { say: (line) => say(`${version}: ${line}`), of: sizeOfOne });
  await rm(`${sparkHome(version)}.pip`, { recursive: true, force: true });
  say(`${version}: there`);
};

type Pinned = Readonly<Record<string, { readonly sha256: string }>>;

// One after the other: each download unpacks 1.5 GB, and the Go build needs a core as well.
const installAll = async (pinned: Pinned, say: Say): Promise<void> => {
  for (const [version, { sha256 }] of Object.entries(pinned)) await installVersion(version, sha256, say);
};

export const moreSpark: Part = {
  name: "spark-more",
  why: `Spark ${moreSparkVersions.join(" and ")}, unmodified, for npm run e2e -- --family elastic-versions, and further cases of kueue and apache`,
  sizeHint: `${moreSparkVersions.length} × ${sizeOfOne} each; about a minute each`,
  needs: ["system"],
  isReady: async () => moreSparkVersions.every(isSparkThere),
  install: (say) => installAll(lock.more, say),
};

export const spark: Part = {
  name: "spark",
  why: `Spark ${sparkVersions.join(" and ")}, unmodified, for real drivers and executors`,
  sizeHint: `${sparkVersions.length} × ${sizeOfOne} each; about a minute each`,
  needs: ["system"],
  isReady: async () => sparkVersions.every(isSparkThere),
  install: (say) => installAll(lock.versions, say),
};
