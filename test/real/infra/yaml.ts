/**
 * Rekindle's YAML as the real kubectl reads it: words and numbers of YAML 1.1 stay strings, and the output of `submit
 * -o yaml` can be applied.
 */
import { isDeepStrictEqual } from "node:util";
import { yamlText } from "../../../shared/inspection/io/documents.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { command } from "../setup/part.ts";
import type { Check } from "./accepted.ts";

/** Strings that YAML 1.1 or Go's YAML library reads as another type. */
const ambiguous: readonly string[] = [
  ...["on", "off", "yes", "no", "y", "n", "Y", "N", "On", "OFF", "true", "null", "~", "", "<<", "="],
  ...["0755", "0o17", "0O17", "0x1f", "0X1F", "0b11", "1_000", "-_1", "1e3", "1e_3", ".5", "1.", "1:30", ".inf"],
];

/** Returns the object as the server would store it. */
const taken = async (cluster: Cluster, text: string): Promise<unknown> => {
  const args = ["apply", "--dry-run=server", "--validate=strict", "-o", "json", "-f", "-"];
  const { code, stdout, stderr } = await cluster.kubectl(args, { input: text });
  if (code !== 0) throw new Error(stderr.trim());
  return JSON.parse(stdout);
};

const fieldOf = (found: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === "object" && inner !== null
        ? new Map<string, unknown>(Object.entries(inner)).get(name)
        : undefined,
    found,
  );

const differing = (found: unknown, wanted: unknown): readonly string[] =>
  isDeepStrictEqual(found, wanted) ? [] : [`${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`];

export const yamlChecks = (cluster: Cluster): readonly Check[] => [
  {
    name: "kubectl reads the words and numbers of YAML 1.1 that we write as strings",
    run: async () => {
      const metadata = { name: "ambiguous", namespace: "default" };
      const data = Object.fromEntries(ambiguous.map((text, at) => [`key-${at}`, text]));
      const labels = { on: "yes", off: "0755", y: "n" };
      const text = yamlText({ apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, labels }, data });
      const found = await taken(cluster, text);
      return [...differing(fieldOf(found, "data"), data), ...differing(fieldOf(found, "metadata", "labels"), labels)];
    },
  },
  {
    name: "kubectl apply takes what submit -o yaml prints",
    run: async () => {
      const confs = ["on", "0755", "1e3", "1:30"].flatMap((value, at) => ["-c", `spark.${at}=${value}`]);
      const line = ["submit", "--name", "pi", "--image", "spark:4.1.1", "-n", "default", ...confs, "-o", "yaml"];
      const text = await command(process.execPath, ["infra/rekindle.mjs", ...line, "local:///pi.py"]);
      const conf = fieldOf(await taken(cluster, text), "spec", "sparkConf");
      return differing(conf, { "spark.0": "on", "spark.1": "0755", "spark.2": "1e3", "spark.3": "1:30" });
    },
  },
];
