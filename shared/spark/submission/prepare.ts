/** Prepares a command line as `spark-submit` does before the Kubernetes client: the program, and the final confs. */
import { type Conf, listOf } from "../configuration/conf.ts";
import type { Program } from "./steps/step.ts";

export type CommandLine = {
  readonly master: string;
  readonly name: string;
  readonly mainClass: string | undefined;
  readonly resource: string;
  readonly arguments: readonly string[];
  /** The values of `--conf` in their order: of two with one key the later wins. */
  readonly confs: readonly (readonly [string, string])[];
  /** Options that have a conf of their own, by that conf; they win over `confs`. */
  readonly options: Readonly<Record<string, string>>;
  readonly submittedAt: number;
};

export type Prepared =
  | { readonly conf: Conf; readonly program: Program; readonly notes: readonly string[] }
  | { readonly refused: string };

const internal = "spark-internal";

const languageOf = (resource: string): Program["language"] => {
  if (resource.endsWith(".py")) return "python";
  return resource.toLowerCase().endsWith(".r") ? "r" : "java";
};

const runners = { python: "org.apache.spark.deploy.PythonRunner", r: "org.apache.spark.deploy.RRunner" } as const;

const programOf = (line: CommandLine): Program | undefined => {
  const language = line.resource === internal ? "java" : languageOf(line.resource);
  const mainClass = language === "java" ? line.mainClass : runners[language];
  if (mainClass === undefined) return undefined;
  const { resource, arguments: given } = line;
  return { language, mainClass, resource, arguments: given };
};

/** Errors of spaces around URIs: lists on the command line are not trimmed, those in confs are. */
const spaced = ({ options }: CommandLine): readonly string[] =>
  ["spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles"].flatMap((key) =>
    (options[key] ?? "")
      .split(",")
      .filter((part) => part.trim() !== "" && part !== part.trim())
      .map((part) => `${key}: illegal character in the URI ${JSON.stringify(part)}: it begins or ends with a space`),
  );

/** Trims lists; a jar that is the program is added to the jars. */
const listed = (confs: Map<string, string>, program: Program): void => {
  for (const key of ["spark.jars", "spark.files", "spark.archives"]) {
    const text = confs.get(key);
    if (text !== undefined) confs.set(key, listOf(text).join(","));
  }
  if (program.language === "java") {
    const own = program.resource === internal ? [] : [program.resource];
    confs.set("spark.jars", [...listOf(confs.get("spark.jars")), ...own].join(","));
  }
  confs.set("spark.submit.pyFiles", listOf(confs.get("spark.submit.pyFiles")).join(","));
};

const shells = ["spark-shell", "pyspark-shell", "sparkr-shell"];

/** Classes that Spark's client runs in client mode only, and the alternative. */
const attended: Readonly<Record<string, string>> = {
  "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver": "Spark SQL shell: run a program instead",
  "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2":
    "Spark Thrift server: start it from a class of your own, by its startWithContext",
  "org.apache.spark.sql.connect.service.SparkConnectServer": "Spark Connect server: create a SparkConnect instead",
};

/** The error of an interactive program. */
const unattendable = ({ resource, mainClass = "" }: CommandLine): string | undefined => {
  const what = shells.includes(resource) ? "Spark shells: run a program instead" : attended[mainClass];
  return what === undefined ? undefined : `Cluster deploy mode is not applicable to ${what}`;
};

export const prepare = (line: CommandLine): Prepared => {
  const beside = unattendable(line);
  if (beside !== undefined) return { refused: beside };
  const program = programOf(line);
  if (program === undefined) {
    return { refused: `${line.resource} does not say which class to run: set spec.mainClass` };
  }
  const misread = spaced(line);
  if (misread.length > 0) return { refused: misread.join("; ") };
  const ours = line.confs.filter(([key]) => key.startsWith("spark."));
  const conf = new Map([...ours, ...Object.entries(line.options)]);
  conf.set("spark.master", line.master);
  conf.set("spark.submit.deployMode", "cluster");
  conf.set("spark.app.name", line.name);
  conf.delete("spark.driver.host");
  listed(conf, program);
  if (!conf.has("spark.app.submitTime")) conf.set("spark.app.submitTime", `${line.submittedAt}`);
  const ignored = line.confs.filter(([key]) => !key.startsWith("spark.")).map(([key]) => key);
  return { conf, program, notes: ignored.map((key) => `${key} is ignored: it is not a Spark configuration key`) };
};
