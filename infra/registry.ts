/**
 * The lists of the registry: for each part of a kind one file with the parts of all kinds, made from the rows of
 * shared/registry/kinds.ts. A component imports only the list that it needs, so that its bundle holds no other part.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DeclaredKind } from "../shared/kube/declared-kind.ts";
import { kinds } from "../shared/registry/kinds.ts";

const root = join(import.meta.dirname, "..");

/** A kind with its declaration's name, and its folder from shared/. */
export type Row = { readonly name: string; readonly folder: string; readonly kind: DeclaredKind };

const declarations = /^import \{ (\w+) \} from "\.\.\/(.+)\/kind\.ts";$/gm;

/** Reads the rows in their order; a declaration that is imported and has no row is none. */
export const registryRows = async (): Promise<readonly Row[]> => {
  const text = readFileSync(join(root, "shared", "registry", "kinds.ts"), "utf8");
  const declared = [...text.matchAll(declarations)].map(async ([, name = "", folder = ""]) => {
    const module: Readonly<Record<string, unknown>> = await import(join(root, "shared", folder, "kind.ts"));
    return { name, folder, declaration: module[name] };
  });
  const all = await Promise.all(declared);
  return kinds.flatMap((kind) =>
    all.filter(({ declaration }) => declaration === kind).map(({ name, folder }) => ({ name, folder, kind })),
  );
};

/** A part of a kind: its file beside the declaration, and the list of all of them. */
type Part = {
  readonly file: string;
  readonly list: string;
  readonly head: string;
  /** Imports beside those of the parts, and the list's text. */
  readonly text: (rows: readonly Row[]) => string;
};

/** The imports of these files of each kind, in the order of their paths. */
const imports = (rows: readonly Row[], ...files: readonly (readonly [file: string, suffix: string])[]): string =>
  rows
    .flatMap(({ folder, name }) =>
      files.map(([file, suffix]) => ({ from: `../${folder}/${file}.ts`, name: `${name}${suffix}` })),
    )
    .toSorted((a, b) => (a.from < b.from ? -1 : 1))
    .map(({ from, name }) => `import { ${name} } from "${from}";`)
    .join("\n");

const lines = (rows: readonly Row[], line: (row: Row) => string): string => rows.map(line).join("\n");

type Listed = Omit<Part, "text"> & { readonly suffix: string; readonly type: string; readonly from: string };

/** A list of each kind's declaration with one of its parts. */
const listOf = ({ suffix, type, from, ...part }: Listed): Part => ({
  ...part,
  text: (rows) => `${[
    'import type { DeclaredKind } from "../kube/declared-kind.ts";',
    `import type { ${type} } from "${from}";`,
    imports(rows, [part.file, suffix], ["kind", ""]),
  ]
    // Biome's order: files of other rooms first.
    .toSorted((a, b) => Number(a.includes('from "./')) - Number(b.includes('from "./')))
    .join("\n")}

export const ${part.list}: readonly (${type} & { readonly kind: DeclaredKind })[] = [
${lines(rows, ({ name }) => `  { kind: ${name}, ...${name}${suffix} },`)}
];`,
});

const parts: readonly Part[] = [
  {
    file: "watches",
    list: "watchers",
    head: "The watches of each kind.",
    text: (rows) => `import type { Watcher } from "../core/operator.ts";
${imports(rows, ["watches", "Watcher"])}

export const watchers: readonly Watcher[] = [
${lines(rows, ({ name }) => `  ${name}Watcher,`)}
];`,
  },
  {
    file: "operator",
    list: "operators",
    head: "The operators of all kinds, for a process that loads all of them.",
    text: (rows) => `import type { Operator } from "../core/operator.ts";
${imports(rows, ["operator", "Operator"])}
import type { KindSettings } from "./settings.ts";

const operators: readonly ((settings: KindSettings) => Operator<unknown>)[] = [
${lines(rows, ({ name }) => `  ${name}Operator,`)}
];

export const operatorsOf = (settings: KindSettings): readonly Operator<unknown>[] =>
  operators.map((operator) => operator(settings));`,
  },
  {
    file: "operator",
    list: "loaders",
    head: "The operator of each kind, loaded with the first message for it.",
    text: (rows) => `import type { Operator } from "../core/operator.ts";
import type { DeclaredKind } from "../kube/declared-kind.ts";
${imports(rows, ["kind", ""])}
import type { KindSettings } from "./settings.ts";

type Loader = {
  readonly kind: DeclaredKind;
  readonly load: () => Promise<(settings: KindSettings) => Operator<unknown>>;
};

export const loaders: readonly Loader[] = [
${lines(
  rows,
  ({ name, folder }) => `  {
    kind: ${name},
    load: async () => (await import("../${folder}/operator.ts")).${name}Operator,
  },`,
)}
];`,
  },
  listOf({
    file: "states",
    suffix: "States",
    list: "states",
    head: "The states of each kind, and their meaning.",
    type: "KindStates",
    from: "../kube/object-state.ts",
  }),
  listOf({
    file: "inspection",
    suffix: "Inspection",
    list: "inspections",
    head: "The kinds that the command line and the page show, and how.",
    type: "KindInspection",
    from: "../kube/object-state.ts",
  }),
  listOf({
    file: "forecast",
    suffix: "Forecast",
    list: "forecasts",
    head: "The views of each kind's objects before their submission.",
    type: "SettledForecast",
    from: "./settings.ts",
  }),
  listOf({
    file: "definition",
    suffix: "Definition",
    list: "definitions",
    head: "The content of each kind's CRD.",
    type: "KindDefinition",
    from: "../kube/kind-definition.ts",
  }),
  listOf({
    file: "installation",
    suffix: "Installation",
    list: "installations",
    head: "The rights and the admission of each kind.",
    type: "KindInstallation",
    from: "../kube/kind-installation.ts",
  }),
];

/** Returns the generated files of the registry by their paths from infra/. */
export const registryFiles = async (): Promise<readonly { readonly path: string; readonly text: string }[]> => {
  const rows = await registryRows();
  return parts.map(({ file, list, head, text }) => {
    const having = rows.filter(({ folder }) => existsSync(join(root, "shared", folder, `${file}.ts`)));
    return {
      path: `../shared/registry/${list}.ts`,
      text: `/** ${head} Generated by \`npm run crds\` from kinds.ts. */\n${text(having)}\n`,
    };
  });
};
