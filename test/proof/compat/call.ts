/** Reads a recorded call of the real `spark-submit` as that program reads it: its options, files and environment. */
import { parseDocument } from "yaml";
import * as z from "zod";
import type { CommandLine } from "../../../shared/spark/submission/client.ts";
import type { Machine } from "../../../shared/spark/submission/steps/step.ts";
import { parseProperties } from "./properties.ts";

const texts = z.record(z.string(), z.string());

/** A Spark version; folders of recordings may write it without points: `s411`. */
const version = z.string().transform((text) => {
  const digits = /^s(\d)(\d)(\d+)$/.exec(text);
  return digits === null ? text : digits.slice(1).join(".");
});

export const inputSchema = z.object({
  sparkVersion: version,
  args: z.array(z.string()),
  env: texts.default({}),
  files: texts.default({}),
  exitCode: z.number().default(0),
  errors: z.array(z.string()).default([]),
});

export type Input = z.infer<typeof inputSchema>;

export type Call = {
  readonly line: CommandLine;
  readonly proxyUser: string | undefined;
  readonly machine: Machine;
  readonly templates: { readonly driver?: unknown; readonly executor?: string };
};

/** Options that set a conf. */
const confOf: Readonly<Record<string, string>> = {
  "--jars": "spark.jars",
  "--packages": "spark.jars.packages",
  "--exclude-packages": "spark.jars.excludes",
  "--repositories": "spark.jars.repositories",
  "--py-files": "spark.submit.pyFiles",
  "--files": "spark.files",
  "--archives": "spark.archives",
  "--driver-memory": "spark.driver.memory",
  "--driver-cores": "spark.driver.cores",
  "--driver-java-options": "spark.driver.extraJavaOptions",
  "--driver-class-path": "spark.driver.extraClassPath",
  "--driver-library-path": "spark.driver.extraLibraryPath",
  "--executor-memory": "spark.executor.memory",
  "--executor-cores": "spark.executor.cores",
  "--num-executors": "spark.executor.instances",
  "--principal": "spark.kerberos.principal",
  "--keytab": "spark.kerberos.keytab",
};

type Split = { readonly options: readonly (readonly [string, string])[]; readonly rest: readonly string[] };

const flags = ["--verbose", "--supervise", "--load-spark-defaults"];

const split = (args: readonly string[]): Split => {
  const [first = "", second = ""] = args;
  if (!first.startsWith("--")) return { options: [], rest: args };
  const width = flags.includes(first) ? 1 : 2;
  const after = split(args.slice(width));
  return { options: [[first, second], ...after.options], rest: after.rest };
};

const pair = (text: string): readonly [string, string] => {
  const at = text.indexOf("=");
  return [text.slice(0, at), text.slice(at + 1)];
};

/** Returns a path without `@T/`, the folder of a recording's files. */
const nameIn = (path: string): string => path.replace(/^@T\//, "");

const folder = (
  files: Readonly<Record<string, string>>,
  path: string | undefined,
): Record<string, string> | undefined =>
  path === undefined
    ? undefined
    : Object.fromEntries(
        Object.entries(files)
          .filter(([name]) => name.startsWith(`${nameIn(path)}/`))
          .map(([name, text]) => [name.slice(nameIn(path).length + 1), text]),
      );

/**
 * True for the configuration files that Spark puts into its ConfigMap: no templates, no archives, and no confs that it
 * merges itself.
 */
const isConfFile = (name: string): boolean =>
  !/\.template$/.test(name) && !/\.(gz|zip|jar|tar)$/.test(name) && !/^spark.*(conf|properties)$/.test(name);

const defaults = ({ files, env }: Input, propertiesFile: string | undefined): Record<string, string> => {
  const ofFolder = env["SPARK_CONF_DIR"] === undefined ? undefined : `${env["SPARK_CONF_DIR"]}/spark-defaults.conf`;
  const name = propertiesFile ?? ofFolder;
  return parseProperties(name === undefined ? "" : (files[nameIn(name)] ?? ""));
};

const machineOf = ({ env, files }: Input): Machine => {
  const confFiles = folder(files, env["SPARK_CONF_DIR"]);
  const hadoopFiles = folder(files, env["HADOOP_CONF_DIR"]);
  const kept = Object.entries(confFiles ?? {}).filter(([name]) => isConfFile(name));
  return {
    user: env["SPARK_USER"] ?? "root",
    ...(env["SPARK_LOCAL_DIRS"] === undefined ? {} : { localDirs: env["SPARK_LOCAL_DIRS"] }),
    ...(env["PYSPARK_PYTHON"] === undefined ? {} : { python: env["PYSPARK_PYTHON"] }),
    ...(env["PYSPARK_DRIVER_PYTHON"] === undefined ? {} : { driverPython: env["PYSPARK_DRIVER_PYTHON"] }),
    ...(confFiles === undefined ? {} : { confFiles: Object.fromEntries(kept) }),
    ...(hadoopFiles === undefined ? {} : { hadoopFiles }),
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [`@T/${name}`, text])),
  };
};

/** Parses the driver's pod template; a text that is not YAML gives none. */
const podIn = (text: string): { driver?: unknown } => {
  const document = parseDocument(text);
  return document.errors.length > 0 ? {} : { driver: document.toJS() };
};

const templatesOf = ({ files }: Input, conf: ReadonlyMap<string, string>): Call["templates"] => {
  const text = (role: string): string | undefined =>
    files[nameIn(conf.get(`spark.kubernetes.${role}.podTemplateFile`) ?? "")];
  const driver = text("driver");
  const executor = text("executor");
  return {
    ...(driver === undefined ? {} : podIn(driver)),
    ...(executor === undefined ? {} : { executor }),
  };
};

export const callOf = (input: Input): Call => {
  const { options, rest } = split(input.args);
  const option = (name: string): string | undefined => options.findLast(([key]) => key === name)?.[1];
  const confs = [
    ...Object.entries(defaults(input, option("--properties-file"))),
    ...options.filter(([key]) => key === "--conf").map(([, value]) => pair(value)),
  ];
  const [resource = "", ...given] = rest;
  return {
    line: {
      master: option("--master") ?? "",
      name: option("--name") ?? "",
      mainClass: option("--class"),
      resource,
      arguments: given,
      confs,
      options: Object.fromEntries(
        options.flatMap(([key, value]) => (confOf[key] === undefined ? [] : [[confOf[key], value]])),
      ),
      submittedAt: 0,
    },
    proxyUser: option("--proxy-user"),
    machine: machineOf(input),
    templates: templatesOf(input, new Map(confs)),
  };
};
