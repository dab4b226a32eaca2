/**
 * A command line of spark-submit as a SparkApplication: each flag has its field, its conf, or a refusal that says what
 * to do instead.
 */
import { fieldsOf, isRecord } from "../../core/json.ts";
import { apiVersionOf, type Obj } from "../../core/object.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import { usual } from "../../inspection/kinds/all.ts";

type Path = readonly string[];

export type Flag =
  | { readonly flag: string; readonly is: "text" | "number" | "list"; readonly to: Path; readonly says: string }
  | { readonly flag: string; readonly is: "conf"; readonly to: string; readonly says: string }
  | { readonly flag: string; readonly is: "refused"; readonly because: string };

const spec = (...path: Path): Path => ["spec", ...path];

/** In the order of spark-submit's own help. `--master`, `--deploy-mode`, `--name`, `--conf` and `--properties-file` are read by themselves. */
export const flags: readonly Flag[] = [
  { flag: "--class <class>", is: "text", to: spec("mainClass"), says: "the application's main class" },
  { flag: "--jars <list>", is: "list", to: spec("deps", "jars"), says: "jars for driver and executors" },
  { flag: "--packages <list>", is: "list", to: spec("deps", "packages"), says: "Maven coordinates of jars" },
  {
    flag: "--exclude-packages <list>",
    is: "list",
    to: spec("deps", "excludePackages"),
    says: "group:artifact to leave out",
  },
  {
    flag: "--repositories <list>",
    is: "list",
    to: spec("deps", "repositories"),
    says: "where packages are looked for",
  },
  { flag: "--py-files <list>", is: "list", to: spec("deps", "pyFiles"), says: "files for the PYTHONPATH" },
  { flag: "--files <list>", is: "list", to: spec("deps", "files"), says: "files for each executor's folder" },
  { flag: "--archives <list>", is: "list", to: spec("deps", "archives"), says: "archives for each executor's folder" },
  { flag: "--driver-memory <size>", is: "text", to: spec("driver", "memory"), says: "e.g. 1000m, 2g" },
  {
    flag: "--driver-java-options <options>",
    is: "text",
    to: spec("driver", "javaOptions"),
    says: "for the driver's JVM",
  },
  { flag: "--driver-library-path <path>", is: "conf", to: "spark.driver.extraLibraryPath", says: "for the driver" },
  { flag: "--driver-class-path <path>", is: "conf", to: "spark.driver.extraClassPath", says: "for the driver" },
  { flag: "--executor-memory <size>", is: "text", to: spec("executor", "memory"), says: "e.g. 1000m, 2g" },
  { flag: "--proxy-user <name>", is: "text", to: spec("proxyUser"), says: "user to impersonate" },
  { flag: "--driver-cores <number>", is: "number", to: spec("driver", "cores"), says: "cores of the driver" },
  { flag: "--executor-cores <number>", is: "number", to: spec("executor", "cores"), says: "cores of each executor" },
  { flag: "--num-executors <number>", is: "number", to: spec("executor", "instances"), says: "how many executors" },
  {
    flag: "--total-executor-cores <number>",
    is: "refused",
    because: "it is for a Spark standalone cluster: use --num-executors and --executor-cores",
  },
  {
    flag: "--queue <name>",
    is: "refused",
    because: "it is for YARN: set spec.batchSchedulerOptions.queue in a manifest (see -o yaml)",
  },
  { flag: "--supervise", is: "refused", because: "it is for a Spark standalone cluster: use --restart OnFailure" },
  {
    flag: "--principal <name>",
    is: "refused",
    because: "a keytab would have to be uploaded: mount it from a Secret, and use --conf spark.kerberos.principal",
  },
  {
    flag: "--keytab <file>",
    is: "refused",
    because: "it would have to be uploaded: mount it from a Secret, and use --conf spark.kerberos.keytab=local:///…",
  },
  { flag: "--kill <id>", is: "refused", because: "use rekindle delete NAMESPACE/NAME" },
  { flag: "--status <id>", is: "refused", because: "use rekindle status NAMESPACE/NAME" },
];

/** Confs that a field expresses, some of which are refused as confs. An empty path drops the conf. */
const confFields: Readonly<Record<string, Path>> = {
  "spark.app.name": [],
  "spark.master": [],
  "spark.submit.deployMode": [],
  "spark.kubernetes.namespace": ["metadata", "namespace"],
  "spark.kubernetes.container.image": spec("image"),
  "spark.kubernetes.container.image.pullPolicy": spec("imagePullPolicy"),
  "spark.kubernetes.driver.container.image": spec("driver", "image"),
  "spark.kubernetes.executor.container.image": spec("executor", "image"),
  "spark.kubernetes.driver.pod.name": spec("driver", "podName"),
  "spark.kubernetes.driver.master": spec("driver", "kubernetesMaster"),
  "spark.kubernetes.authenticate.driver.serviceAccountName": spec("driver", "serviceAccount"),
  "spark.kubernetes.authenticate.executor.serviceAccountName": spec("executor", "serviceAccount"),
};

export type Line = {
  /** Values of the flags, by commander's names. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly file: string;
  readonly arguments: readonly string[];
  /** Text of `--properties-file`. */
  readonly properties: string;
};

type Tree = { [field: string]: unknown };

const put = (tree: Tree, path: readonly string[], value: unknown): void => {
  const [head = "", ...rest] = path;
  if (rest.length === 0) {
    tree[head] = value;
    return;
  }
  const inner = tree[head];
  const next: Tree = isRecord(inner) ? { ...inner } : {};
  put(next, rest, value);
  tree[head] = next;
};

/** `--driver-java-options <x>` → driverJavaOptions, as commander calls it. */
const optionOf = (flag: string): string =>
  (flag.split(" ")[0] ?? "").replace(/^--/, "").replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const listOf = (text: string): readonly string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** `KEY=VALUE` of a `--conf`. */
const pairOf = (text: string): readonly [string, string] => {
  const at = text.indexOf("=");
  if (at <= 0) throw new Refused(`--conf ${text}: write KEY=VALUE`);
  return [text.slice(0, at).trim(), text.slice(at + 1)];
};

/** A properties file as Spark reads it: `key value`, `key=value` or `key: value`, # before remarks. */
const propertiesOf = (text: string): readonly (readonly [string, string])[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^[#!]/.test(line))
    .map((line) => {
      const [, key = line, value = ""] = /^([^\s=:]+)\s*[=:\s]\s*(.*)$/.exec(line) ?? [];
      return [key, value] as const;
    });

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

const values = {
  text: (text: string): unknown => text,
  list: listOf,
  number: (text: string, flag: string): unknown => {
    if (/^[1-9]\d*$/.test(text)) return Number(text);
    throw new Refused(`${flag.split(" ")[0]} ${text}: write a whole number from 1 up`);
  },
} as const;

/** Flags win over `--conf`, and `--conf` over the file, as in spark-submit. */
const fill = (tree: Tree, { options, properties }: Line): void => {
  const conf: Record<string, string> = {};
  for (const [key, value] of [...propertiesOf(properties), ...textsOf(options["conf"]).map(pairOf)]) {
    const path = confFields[key];
    if (path === undefined) conf[key] = value;
    else if (path.length > 0) put(tree, path, value);
  }
  for (const row of flags) {
    const said = options[optionOf(row.flag)];
    if (said === undefined) continue;
    if (row.is === "refused") throw new Refused(`${row.flag.split(" ")[0]}: ${row.because}`);
    if (row.is === "conf") conf[row.to] = String(said);
    else put(tree, row.to, values[row.is](String(said), row.flag));
  }
  if (Object.keys(conf).length > 0) put(tree, ["spec", "sparkConf"], conf);
};

const where = (options: Line["options"]): void => {
  const master = textOf(options["master"]);
  if (master !== undefined && !master.startsWith("k8s://"))
    throw new Refused(
      `--master ${master}: applications run on Kubernetes; leave --master out, --context selects the cluster`,
    );
  const mode = textOf(options["deployMode"]);
  if (mode !== undefined && mode !== "cluster")
    throw new Refused(`--deploy-mode ${mode}: use cluster; in client mode the driver would run on this machine`);
};

/** The language of the main file; a file that is no script is a jar. */
const languageOf = (file: string): string => {
  if (/\.py$/i.test(file)) return "Python";
  return /\.r$/i.test(file) ? "R" : "Scala";
};

/** Returns Spark's version, as the flag or the image's tag names it. */
const versionOf = (options: Line["options"], spec: Readonly<Record<string, unknown>>): string => {
  const images = [spec["image"], fieldsOf(spec["driver"])["image"]].map(textOf);
  const image = images.find((one) => one !== undefined && one !== "");
  const found = textOf(options["sparkVersion"]) ?? /:[^:/]*?(\d+\.\d+\.\d+)[^:/]*$/.exec(image ?? "")?.[1];
  if (found !== undefined) return found;
  throw new Refused(
    image === undefined
      ? "no image is named: add --image, such as --image apache/spark:4.1.1"
      : `the tag of ${image} names no version of Spark: add --spark-version, such as --spark-version 4.1.1`,
  );
};

/** A prefix for generateName: a valid name of an application, with room for the server's suffix. */
const nameOf = (text: string): string => {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 40)
    .replace(/-+$/, "");
  return name === "" ? "spark" : name;
};

const lastPart = (file: string): string =>
  file
    .split("/")
    .at(-1)
    ?.replace(/\.\w+$/, "") ?? "";

const own: readonly (readonly [string, readonly string[]])[] = [
  ["image", ["spec", "image"]],
  ["serviceAccount", ["spec", "driver", "serviceAccount"]],
  ["restart", ["spec", "restartPolicy", "type"]],
  ["ttl", ["spec", "timeToLiveSeconds"]],
  ["namespace", ["metadata", "namespace"]],
];

/** The application; the server completes its name unless `--application` gives all of it. */
export const applicationOf = (line: Line): Obj => {
  const { options, file } = line;
  where(options);
  const tree: Tree = { spec: { driver: {}, executor: {} }, metadata: {} };
  fill(tree, line);
  for (const [option, path] of own) if (options[option] !== undefined) put(tree, path, options[option]);
  const spec = fieldsOf(tree["spec"]);
  const whole = textOf(options["application"]);
  const name = nameOf(textOf(options["name"]) ?? lastPart(textOf(options["class"])?.replaceAll(".", "/") ?? file));
  const labels = Object.fromEntries(textsOf(options["label"]).map(pairOf));
  const metadata = {
    ...fieldsOf(tree["metadata"]),
    ...(whole === undefined ? { generateName: `${name}-` } : { name: whole }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
  };
  return {
    ...{ apiVersion: apiVersionOf(usual.resource), kind: usual.resource.kind },
    metadata: { name: whole ?? "", ...metadata },
    spec: {
      type: languageOf(file),
      mode: "cluster",
      sparkVersion: versionOf(options, spec),
      mainApplicationFile: file,
      ...(line.arguments.length === 0 ? {} : { arguments: line.arguments }),
      ...spec,
    },
  };
};
