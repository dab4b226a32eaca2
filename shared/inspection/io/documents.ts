/**
 * Objects in YAML or JSON, as a command reads them from files, folders and standard input, and prints them for
 * machines. It reads as kubectl reads. This is the only module that writes YAML: kubectl, Helm and kustomize read YAML 1.1, where plain `on`,
 * `no`, `y`, `0o17`, `1:30` or `1e_3` are no strings, so every such string is quoted.
 */

import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isScalar, Scalar, visit, YAMLSeq, Document as YamlDocument } from "yaml";
import { yamlDocuments } from "../../adapters/kubernetes/yaml.ts";
import { fieldsOf, isRecord } from "../../core/json.ts";
import type { Obj, Resource } from "../../core/object.ts";

import { Refused } from "./refusal.ts";

/** An object, and the place of its text for messages. */
export type Document = { readonly object: Obj; readonly place: string };

type Source = { readonly name: string; readonly text: string };

const isDocument = (file: string): boolean => /\.(ya?ml|json)$/.test(file);

const unreadable = (path: string, cause: unknown): Refused =>
  new Refused(
    `${path}: cannot be read (${cause instanceof Error ? (cause.message.split(",")[0] ?? "") : String(cause)})`,
  );

/** A folder stands for the files in it, in the order of their names. */
const filesOf = async (path: string): Promise<readonly string[]> => {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const files = (await readdir(path)).filter(isDocument).sort();
    if (files.length > 0) return files.map((file) => join(path, file));
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw new Refused(`${path}: no file in it ends with .yaml, .yml or .json`);
};

const sourcesOf = async (path: string, stdin: () => Promise<string>): Promise<readonly Source[]> => {
  if (path === "-") return [{ name: "standard input", text: await stdin() }];
  const files = await filesOf(path);
  return Promise.all(
    files.map(async (name) => ({
      name,
      text: await readFile(name, "utf8").catch((cause: unknown) => {
        throw unreadable(name, cause);
      }),
    })),
  );
};

const isObject = (value: unknown): value is Obj =>
  isRecord(value) &&
  typeof value["apiVersion"] === "string" &&
  typeof value["kind"] === "string" &&
  isRecord(value["metadata"]) &&
  (typeof value["metadata"]["name"] === "string" || typeof value["metadata"]["generateName"] === "string");

const missing = (value: unknown): string => {
  if (!isRecord(value)) return "is not an object of Kubernetes: apiVersion, kind and metadata are missing";
  const lacks = ["apiVersion", "kind"].filter((field) => typeof value[field] !== "string");
  if (lacks.length > 0) return `${lacks.join(" and ")} must be there, as text`;
  const { name } = fieldsOf(value["metadata"]);
  if (typeof name !== "boolean" && typeof name !== "number") return "metadata.name must be there, as text";
  return `metadata.name must be text, and YAML reads ${name} here: put the name in quotes`;
};

/** An object, or the line that says why a text is none. */
type Reading = Document | string;

/** A List stands for its items. */
const objectsIn = (value: unknown, place: string): readonly Reading[] => {
  if (isRecord(value) && value["kind"] === "List" && Array.isArray(value["items"])) {
    return value["items"].flatMap((item: unknown, at) => objectsIn(item, `${place}, item ${at + 1}`));
  }
  if (isObject(value)) return [{ object: value, place }];
  return [`${place}: ${missing(value)}`];
};

const read = ({ name, text }: Source): readonly Reading[] => {
  const documents = yamlDocuments(text);
  const many = documents.length > 1;
  return documents.flatMap((document, at) => {
    const place = many ? `${name}, document ${at + 1}` : name;
    if ("value" in document) return document.value === null ? [] : objectsIn(document.value, place);
    const { problem, line } = document;
    return [`${line === undefined ? place : `${name}:${line}`}: ${problem}`];
  });
};

/** Reads all objects of these files, folders and `-`. Refuses documents that are no objects, all of them at once. */
export const documentsOf = async (
  paths: readonly string[],
  stdin: () => Promise<string>,
): Promise<readonly Document[]> => {
  const sources = await Promise.all(paths.map((path) => sourcesOf(path, stdin)));
  const readings = sources.flat().flatMap(read);
  const wrong = readings.filter((one) => typeof one === "string");
  if (wrong.length > 0) throw new Refused(wrong.join("; "));
  const found = readings.filter((one) => typeof one !== "string");
  if (found.length === 0) throw new Refused(`${paths.join(", ")}: there is nothing in it`);
  return found;
};

/** Matches the numbers of Go's YAML library: it drops every underscore first, and knows the prefixes of Go. */
const goNumber =
  /^[-+]?(0b[01]+|0o[0-7]+|0x[\da-f]+|\d+|(\.\d+|\d+(\.\d*)?)(e[-+]?\d+)?|\d+(:[0-5]?\d)+(\.\d*)?|\.(inf|nan))$/i;

/** Matches the words that YAML 1.1 takes for a boolean, nothing, a merge or a default value, in any case. */
const words = /^(y|n|yes|no|on|off|true|false|null|~|<<|=|)$/i;

const isAmbiguous = (text: string): boolean => words.test(text) || goNumber.test(text.replaceAll("_", ""));

/** Matches the words of a list that stands in one line, such as the verbs of a rule. */
const listed = /^[\w.*/-]*$/;

const widest = 100;

const isShortList = ({ items }: YAMLSeq): boolean => {
  const texts = items.map((item) => (isScalar(item) && typeof item.value === "string" ? item.value : undefined));
  return texts.every((text) => text !== undefined && listed.test(text)) && texts.join(", ").length <= widest;
};

/** Writes lists of a few words in one line, as people write rules of access. */
const shortened = (document: YamlDocument): YamlDocument => {
  visit(document, {
    Seq: (_, node) => {
      if (node instanceof YAMLSeq && isShortList(node)) node.flow = true;
    },
  });
  return document;
};

/** The document of a value, whose strings are strings for readers of YAML 1.1 and of YAML 1.2. */
const documentOf = (value: unknown): YamlDocument => {
  const document = new YamlDocument(value, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  visit(document, {
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === "string" && isAmbiguous(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document;
};

const textOf = (document: YamlDocument): string => document.toString({ lineWidth: 0, flowCollectionPadding: false });

/** `value` as one YAML document. */
export const yamlText = (value: unknown): string => textOf(documentOf(value));

/** Several objects as one stream, each document with its separator, and lists of a few words in one line. */
export const yamlStream = (values: readonly unknown[]): string =>
  values.map((value) => `---\n${textOf(shortened(documentOf(value)))}`).join("");

export const asJson = (value: unknown): string => JSON.stringify(value, null, 2);

export const asYaml = (value: unknown): string => yamlText(value).trimEnd();

/** Several objects as one YAML stream. */
export const asDocuments = (objects: readonly unknown[]): string => yamlStream(objects).trimEnd();

/** As kubectl names things: `sparkapplication.sparkoperator.k8s.io/NAME`. */
export const nameText = ({ kind, group }: Pick<Resource, "kind" | "group">, name: string): string =>
  `${kind.toLowerCase()}${group === "" ? "" : `.${group}`}/${name}`;
