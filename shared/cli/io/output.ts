/** Output of commands for machines: rows and objects as JSON, YAML or names. */
import type { Resource } from "../../core/object.ts";
import { yamlStream, yamlText } from "./yaml.ts";

export const asJson = (value: unknown): string => JSON.stringify(value, null, 2);

export const asYaml = (value: unknown): string => yamlText(value).trimEnd();

/** Several objects as one YAML stream. */
export const asDocuments = (objects: readonly unknown[]): string => yamlStream(objects).trimEnd();

/** As kubectl names things: `sparkapplication.sparkoperator.k8s.io/NAME`. */
export const nameText = ({ kind, group }: Pick<Resource, "kind" | "group">, name: string): string =>
  `${kind.toLowerCase()}${group === "" ? "" : `.${group}`}/${name}`;
