/**
 * The places of the product that name a kind outside its family's code: in a text, by an identifier, or by an import of its
 * resource. Each such place must be edited to add a kind; the registry's row is the only one that is meant.
 */
import { dirname } from "node:path";
import { kindNames as keyKinds } from "../../../shared/registry/names.ts";
import { codeOf, importsOf, literalsOf, read, sourcesUnder } from "./sources.ts";

export type Place = { readonly file: string; readonly line: number; readonly text: string };

type Names = {
  /** Matches a whole text or identifier that names the kind. */
  readonly text: RegExp;
  /** Undefined for a kind of one word: `queue` and `job` are words of everyone. */
  readonly identifier: RegExp | undefined;
  /** The names of other kinds that contain this one's, in lower case. */
  readonly longer: readonly string[];
  /** The name under which its family exports the resource. */
  readonly resource: string;
};

/** The kinds that Rekindle runs, and the one that its schedulers own. */
export const kindNames: readonly string[] = [...keyKinds, "PodGroup"].filter((kind) => kind !== "Pod");

const lowered = (kind: string): string => `${kind[0]?.toLowerCase()}${kind.slice(1)}`;

/** The file of a kind's declaration, as its row in the registry imports it. */
const declarationOf = (kind: string): string | undefined =>
  importsOf("shared/registry/kinds.ts").find(
    ({ to }) => to.endsWith("/kind.ts") && new RegExp(`export const ${lowered(kind)} =`).test(read(to)),
  )?.to;

/** The name under which a family exports the resource of a kind. */
const resourceNameOf = (kind: string): string => {
  const declaration = declarationOf(kind);
  const named = declaration === undefined ? undefined : /\bresource: (\w+)/.exec(read(declaration))?.[1];
  return named ?? `${lowered(kind)}s`;
};

/** In a sentence the kind's name counts; alone, or before a dot or a slash, its plural and singular, too. */
const namesOf = (kind: string): Names => {
  const whole = kind.toLowerCase();
  const isCompound = /[a-z][A-Z]/.test(kind);
  const plain = isCompound ? `\\b${whole}s?\\b` : `^${whole}s$|^${whole}s[./]`;
  return {
    text: new RegExp(`\\b${kind}s?\\b|${plain}`),
    identifier: isCompound ? new RegExp(`\\b(?:[a-z]\\w*?)?(?:${kind}|\\b${lowered(kind)})s?\\b`, "g") : undefined,
    longer: kindNames.filter((other) => other !== kind && other.includes(kind)).map((other) => other.toLowerCase()),
    resource: resourceNameOf(kind),
  };
};

/** Folders whose code belongs to one family: the kinds themselves, and Volcano's own command line. */
const ofFamilies = /^shared\/(spark|volcano|registry|cli\/vcctl)\//;

/** Files that mean the kinds of the same names that Kubernetes itself has. */
const ofKubernetes = /^shared\/simulator\/|^shared\/kube\/native-gang\.ts$|^infra\/workloads\.ts$/;
const alsoOfKubernetes: readonly string[] = ["Job", "CronJob", "PodGroup"];

/** The resource of a kind stands in these files. */
const ofResources = /\/resource\.ts$|\/kinds\/(volcano|spark)\.ts$/;

const importing = (resource: string): RegExp => new RegExp(`^import [^;]*?\\b${resource}\\b[^;]*? from`, "m");

const lineOf = (text: string, found: RegExp): number => text.slice(0, text.search(found)).split("\n").length;

/** True of the name of a field in lower case, as `jobTemplate:` in a CronJob of Kubernetes itself. */
const isField = (code: string, end: number): boolean => code[end] === ":";

/** Returns the first identifier that names the kind; one of a longer name (ScheduledSparkApplication) names another kind. */
const identifierIn = (source: string, { identifier, longer }: Names): string | undefined => {
  if (identifier === undefined) return undefined;
  const code = codeOf(source);
  return [...code.matchAll(identifier)]
    .filter(({ index, 0: found }) => !isField(code, index + found.length))
    .map(([found]) => found)
    .find((found) => !longer.some((other) => found.toLowerCase().includes(other)));
};

const placesIn = (file: string, names: Names): readonly Place[] => {
  const { text: naming, resource } = names;
  const source = read(file);
  const texts = literalsOf(source)
    .filter(({ text }) => naming.test(text) && !text.endsWith(".ts"))
    .map(({ line, text }) => ({ file, line, text: JSON.stringify(text.replaceAll("\n", " ")) }));
  const code = identifierIn(source, names);
  const identifiers =
    code === undefined ? [] : [{ file, line: lineOf(source, new RegExp(`\\b${code}\\b`)), text: code }];
  const isImported =
    importsOf(file).some(({ to }) => ofResources.test(to)) && importing(resource).test(source) && code === undefined;
  return [
    ...texts,
    ...identifiers,
    ...(isImported ? [{ file, line: lineOf(source, importing(resource)), text: resource }] : []),
  ];
};

/** Returns the places that name a kind outside its family's code, tests and generated files. */
export const placesOf = (kind: string): readonly Place[] => {
  const names = namesOf(kind);
  return sourcesUnder("functions", "shared", "infra")
    .filter((file) => !ofFamilies.test(file) && !file.includes(".test."))
    .filter((file) => !alsoOfKubernetes.includes(kind) || !ofKubernetes.test(file))
    .flatMap((file) => placesIn(file, names));
};

export const filesOf = (kind: string): readonly string[] => [...new Set(placesOf(kind).map(({ file }) => file))];

/** The report of one kind: its folder, its row, and the places that name it, by file. */
export const kindText = (kind: string): string => {
  if (!kindNames.includes(kind)) return `no kind is named ${kind}; the kinds are ${kindNames.join(", ")}`;
  const places = placesOf(kind);
  const declaration = declarationOf(kind);
  return [
    ...(declaration === undefined ? [] : [`${dirname(declaration)}/  its folder`, "shared/registry/kinds.ts  its row"]),
    ...places.map(({ file, line, text }) => `${file}:${line}  ${text.slice(0, 120)}`),
    `${kind} is named in ${filesOf(kind).length} files outside its family's code, ${places.length} places`,
  ].join("\n");
};
