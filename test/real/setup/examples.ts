/**
 * The example jar that manifests expect in a Spark image and that no package contains: Rekindle's own class, compiled
 * for each Spark version.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { command, intoPlace, type Part } from "./part.ts";
import { isSparkThere, moreSparkVersions, sparkHome, sparkVersions } from "./spark.ts";

const sources = join(import.meta.dirname, "..", "cluster", "examples");

const javaFiles = async (): Promise<readonly string[]> =>
  (await readdir(sources, { recursive: true })).filter((file) => file.endsWith(".java")).toSorted();

const digest = async (): Promise<string> => {
  const hash = createHash("sha256");
  for (const file of await javaFiles()) hash.update(`${file}\0`).update(await readFile(join(sources, file)));
  return hash.digest("hex");
};

/** The versions that every set-up has, and those that were installed besides. */
const versions = (): readonly string[] => [...sparkVersions, ...moreSparkVersions.filter(isSparkThere)];

/** The Scala version in the long name of a jar. */
const scalaOf = (version: string): string => (version.startsWith("3.") ? "2.12" : "2.13");

const jarDir = (version: string): string => join(sparkHome(version), "examples", "jars");

const isThere = async (version: string, wanted: string): Promise<boolean> =>
  (await readFile(join(jarDir(version), "sources.sha256"), "utf8").catch(() => "")) === wanted;

/** Both names are in use: the Spark images of version 4 have the short one, older manifests the long one. */
const compile = async (version: string, wanted: string): Promise<void> =>
  intoPlace(jarDir(version), async (dir) => {
    const classes = join(dir, "classes");
    await mkdir(classes);
    const classPath = join(sparkHome(version), "jars", "*");
    const files = await javaFiles();
    await command("javac", ["--release", "17", "-proc:none", "-cp", classPath, "-d", classes, ...files], {
      cwd: sources,
    });
    await command("jar", ["--create", "--file", join(dir, "spark-examples.jar"), "-C", classes, "."]);
    await symlink("spark-examples.jar", join(dir, `spark-examples_${scalaOf(version)}-${version}.jar`));
    await rm(classes, { recursive: true });
    await writeFile(join(dir, "sources.sha256"), wanted);
  });

export const examples: Part = {
  name: "examples",
  why: "org.apache.spark.examples.SparkPi, and a job of our tests, at the place where manifests name them",
  sizeHint: "a few kB per Spark version, 5 s",
  needs: ["spark"],
  isReady: async () => {
    const wanted = await digest();
    const there = await Promise.all(versions().map((version) => isThere(version, wanted)));
    return (
      there.every(Boolean) && versions().every((version) => existsSync(join(jarDir(version), "spark-examples.jar")))
    );
  },
  install: async (say) => {
    const wanted = await digest();
    for (const version of versions()) {
      if (await isThere(version, wanted)) continue;
      say(`compiling for Spark ${version}`);
      await compile(version, wanted);
    }
  },
};
