/** The options of an executor's JVM: Spark's own, the user's, and confs that it needs to reach its driver. */
import type { Conf } from "../configuration/conf.ts";
import type { Rules } from "../configuration/versions.ts";

/** A word of a command line: quotes keep spaces; within double quotes a backslash escapes the next character. */
const word = /(?:[^\s"']|"(?:\\[\s\S]|[^"\\])*(?:"|$)|'[^']*(?:'|$))+/g;

const unquoted = (text: string): string =>
  text.replace(/"((?:\\[\s\S]|[^"\\])*)(?:"|$)|'([^']*)(?:'|$)/g, (_, double?: string, single?: string) =>
    double === undefined ? (single ?? "") : double.replace(/\\([\s\S])/g, "$1"),
  );

/** Splits a command line into words as Spark does. */
export const splitCommand = (text: string): readonly string[] => (text.match(word) ?? []).map(unquoted);

/** Confs that an executor needs to reach its driver at all. */
const isStartup = (key: string): boolean =>
  (key.startsWith("spark.auth") && key !== "spark.authenticate.secret") ||
  key.startsWith("spark.rpc") ||
  key.startsWith("spark.network") ||
  (key.startsWith("spark.") && key.endsWith(".port")) ||
  key.startsWith("spark.port.");

const isTls = (key: string): boolean => key.startsWith("spark.ssl") && !key.includes("Password");

type Named = {
  readonly conf: Conf;
  /** The confs as written: the executor resolves their references itself. */
  readonly written: Conf;
  readonly rules: Rules;
  readonly applicationId: string;
  readonly executorId: string;
};

/** The options in the order of the command line: of two that contradict each other the later wins. */
export const javaOptions = ({ conf, written, rules, applicationId, executorId }: Named): readonly string[] => {
  const users = ["spark.executor.defaultJavaOptions", "spark.executor.extraJavaOptions"].map(
    (key) => conf.get(key) ?? "",
  );
  const [first = "", last = ""] = users.map((text) =>
    splitCommand(text.replaceAll("{{APP_ID}}", applicationId).replaceAll("{{EXECUTOR_ID}}", executorId)),
  );
  const own = ["-Djava.net.preferIPv6Addresses=false", ...rules.executors.javaOptions];
  const startup = [...written]
    .filter(([key]) => isStartup(key) || (rules.executors.tlsAndLogs && isTls(key)))
    .map(([key, value]) => `-D${key}=${value}`);
  return [...first, ...own, ...last, ...startup];
};
