/** Reads upstream's example files, and checks each against its row. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import { must } from "../scene.ts";
import { expected, type Row } from "./expected.ts";

const document = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({
    name: z.string().optional(),
    generateName: z.string().optional(),
    namespace: z.string().optional(),
  }),
});

type Document = z.infer<typeof document>;

export type ExampleFile = {
  /** Relative to the folder of examples. */
  readonly path: string;
  readonly file: string;
  readonly documents: readonly Document[];
  /** A namespace per file, so that equal names do not collide; or the one that the file names. */
  readonly namespace: string;
};

/** Files without a namespace that are used by a file with one. */
const besides: Readonly<Record<string, string>> = { "jobflow/JobTemplate.yaml": "default" };

const namespaceOf = (path: string, documents: readonly Document[]): string =>
  besides[path] ??
  documents.find(({ metadata }) => metadata.namespace !== undefined)?.metadata.namespace ??
  path
    .replace(/\.ya?ml$/, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(-63)
    .replace(/^-/, "");

export const examplesIn = (dir: string): readonly ExampleFile[] =>
  globSync("**/*.{yaml,yml}", { cwd: dir })
    .toSorted()
    .map((path) => {
      const file = join(dir, path);
      const all = parseAllDocuments(readFileSync(file, "utf8")).map((one): unknown => one.toJS());
      const documents = z.array(document).parse(all.filter((one) => one !== null));
      return { path, file, documents, namespace: namespaceOf(path, documents) };
    });

const namesIn = (row: Row): readonly string[] => [
  ...Object.keys(row.jobs ?? {}).map((name) => `Job ${name}`),
  ...Object.keys(row.refused ?? {}).map((name) => `Job ${name}`),
  ...(row.queues ?? []).map((name) => `Queue ${name}`),
  ...(row.templates ?? []).map((name) => `JobTemplate ${name}`),
  ...Object.keys(row.flows ?? {}).map((name) => `JobFlow ${name}`),
  ...(row.crons ?? []).map((name) => `CronJob ${name}`),
];

const isVolcanos = ({ apiVersion }: Document): boolean => /\.volcano\.sh\//.test(apiVersion);

/** Lists the objects that a row omits, and those that its file does not have. */
const differences = ({ path, documents }: ExampleFile): readonly string[] => {
  const row = expected[path];
  if (row === undefined) return [`${path} has no row`];
  const said = [...namesIn(row)].toSorted();
  const ours = documents.filter(isVolcanos).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const others = [...new Set(documents.filter((one) => !isVolcanos(one)).map(({ kind }) => kind))];
  return [
    ...(said.join() === ours.toSorted().join()
      ? []
      : [`${path}: holds ${ours.join(", ")}; its row ${said.join(", ")}`]),
    ...(others.join() === (row.others ?? []).join() ? [] : [`${path}: holds ${others.join(", ")} of others`]),
  ];
};

/**
 * Throws the names of files without a row. Returns the files that belong to other controllers, each with the reason.
 */
export const accounted = (files: readonly ExampleFile[]): readonly string[] => {
  const paths = new Set(files.map(({ path }) => path));
  const rowsOnly = Object.keys(expected).filter((path) => !paths.has(path));
  const wrong = [...files.flatMap(differences), ...rowsOnly.map((path) => `${path} has a row, and is not there`)];
  must(wrong.length === 0, wrong.join("\n    "));
  const others = files.filter(({ documents }) => !documents.some(isVolcanos));
  return [
    `${files.length} files, ${files.length - others.length} of them of Volcano's kinds; the others are not applied:`,
    ...others.map(({ path }) => `${path}: ${expected[path]?.why}`),
  ];
};
