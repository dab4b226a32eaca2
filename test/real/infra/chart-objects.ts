/** Objects that Helm renders from the chart, and their comparison with others. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { yamlText } from "../../../shared/inspection/io/documents.ts";
import { helmProgram } from "../setup/helm.ts";
import { command } from "../setup/part.ts";
import { type Manifest, objectsIn } from "./accepted.ts";

export type Values = Readonly<Record<string, unknown>>;

/** Returns Helm's output for these values, with the notes as comments at the end. */
export const rendered = async (values: Values, namespace: string): Promise<string> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-chart-"));
  try {
    const file = join(dir, "values.yaml");
    await writeFile(file, yamlText(values));
    return await command(await helmProgram(), ["infra/helm/rekindle", "batch", namespace, file]);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};

const isDefinition = ({ kind }: Manifest): boolean => kind === "CustomResourceDefinition";

/** The CRDs alone. */
export const definitionsIn = (text: string): readonly Manifest[] =>
  objectsIn(text.slice(text.indexOf("apiVersion:"))).filter(isDefinition);

/** Leaves out the CRDs, which a line of Helm's own may precede. */
export const withoutDefinitions = (text: string): readonly Manifest[] =>
  objectsIn(text.slice(text.indexOf("---"))).filter((object) => !isDefinition(object));

const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

/** Lists the objects that only one side has, and the differing ones; empty if both are the same. */
export const differences = (chart: readonly Manifest[], manifests: readonly Manifest[]): readonly string[] => {
  const left = new Map(chart.map((object) => [nameOf(object), object]));
  const right = new Map(manifests.map((object) => [nameOf(object), object]));
  return [
    ...[...left.keys()].filter((name) => !right.has(name)).map((name) => `${name} is the chart's alone`),
    ...[...right.keys()].filter((name) => !left.has(name)).map((name) => `${name} is missing in the chart`),
    ...[...left]
      .filter(([name, object]) => right.has(name) && !isDeepStrictEqual(object, right.get(name)))
      .map(([name, object]) => `${name}: ${JSON.stringify(object)} is not ${JSON.stringify(right.get(name))}`),
  ];
};

/** Returns the objects as parsed from YAML: without undefined fields. */
export const parsed = (objects: readonly object[]): readonly Manifest[] =>
  objectsIn(objects.map((one) => JSON.stringify(one)).join("\n---\n"));
