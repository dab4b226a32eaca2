/** The table of image names and the software of this machine that runs for them; every other name cannot be pulled. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";

export type Bind = { readonly from: string; readonly to: string };

export type Image = {
  /** The software that really runs, as the status shows it. */
  readonly id: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** A command that replaces the container's own. */
  readonly instead?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly user: number;
  /** Read-only parts of this machine's file system, mounted inside. */
  readonly binds: readonly Bind[];
  /** Folders that every user inside may write to. */
  readonly writable: readonly string[];
};

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const sparkHome = "/opt/spark";
const javaHome = "/opt/java/openjdk";
const entrypoint = "/opt/entrypoint.sh";
const decommission = "/opt/decom.sh";
const parts = ["bin", "jars", "python", "examples", "data", "licenses"];

/** Returns the absolute path of a program; the agent must not search by the PATH of a pod's environment. */
export const programPath = (name: string): string => {
  const dirs = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
  const found = dirs.map((dir) => join(dir, name)).find((file) => file.startsWith("/") && existsSync(file));
  if (found === undefined) throw new Error(`${name} is not on this machine`);
  return found;
};

const jdk = (): string => dirname(dirname(realpathSync(programPath("java"))));

/** Mounts Spark's own scripts one by one, so that scripts which the Python package lacks can be added. */
const scripts = (home: string): Bind[] => {
  const own = readdirSync(join(home, "sbin")).map((name) => join(home, "sbin", name));
  const names = ["start-connect-server.sh", "stop-connect-server.sh", "start-master.sh", "start-worker.sh"];
  const added = names.map((name) => join(import.meta.dirname, name));
  return [...own, ...added].map((from) => ({ from, to: `${sparkHome}/sbin/${basename(from)}` }));
};

const sparkImage = (cache: string, version: string): Image | undefined => {
  const home = join(cache, "spark", version);
  if (!existsSync(join(home, "bin", "spark-submit"))) return undefined;
  const there = parts.filter((part) => existsSync(join(home, part)));
  return {
    id: `pypi/pyspark@${version}`,
    entrypoint: [entrypoint],
    command: [],
    env: {
      PATH: `${javaHome}/bin:${path}`,
      SPARK_HOME: sparkHome,
      JAVA_HOME: javaHome,
      PYSPARK_PYTHON: "python3",
      // Virtual machines of tests live for seconds, of which the second compiler would take half.
      JDK_JAVA_OPTIONS: "-XX:TieredStopAtLevel=1",
      LANG: "C.UTF-8",
    },
    workingDir: `${sparkHome}/work-dir`,
    user: 185,
    binds: [
      { from: jdk(), to: javaHome },
      ...there.map((part) => ({ from: join(home, part), to: `${sparkHome}/${part}` })),
      ...scripts(home),
      { from: join(import.meta.dirname, "spark-entrypoint.sh"), to: entrypoint },
      { from: join(import.meta.dirname, "spark-decom.sh"), to: decommission },
    ],
    writable: ["work-dir", "logs", "work"].map((name) => `${sparkHome}/${name}`),
  };
};

/** This machine's programs, run as root. */
export const plain: Omit<Image, "id" | "command"> = {
  entrypoint: [],
  env: { PATH: path, LANG: "C.UTF-8" },
  workingDir: "/",
  user: 0,
  binds: [],
  writable: [],
};

const nodeImage = (): Image => ({
  ...plain,
  id: `node@${process.version}`,
  command: ["node"],
  env: { ...plain.env, PATH: `/opt/node/bin:${path}` },
  binds: [{ from: process.execPath, to: "/opt/node/bin/node" }],
});

/** The registry and the folders before the name do not matter, nor does the suffix of the version. */
const table: readonly {
  readonly name: RegExp;
  readonly image: (cache: string, version: string) => Image | undefined;
}[] = [
  { name: /^(?:.+\/)?spark(?:-py)?:v?(\d+\.\d+\.\d+)(?:-[\w.-]+)?$/, image: sparkImage },
  {
    // The operator's image only has to start: its pods' behaviour belongs to the test.
    name: /^(?:.+\/)?(?:busybox|alpine|debian|spark-operator\/controller|spark-kubernetes-operator)(?::[\w.-]+)?()$/,
    image: () => ({ ...plain, id: "host/sh", command: ["/bin/sh"] }),
  },
  { name: /^(?:.+\/)?node:24[\w.-]*()$/, image: nodeImage },
];

export const imageOf = (cache: string, name: string): Image | undefined => {
  for (const row of table) {
    const found = row.name.exec(name);
    if (found !== null) return row.image(cache, found[1] ?? "");
  }
  return undefined;
};
