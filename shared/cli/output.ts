/** What commands print for machines: rows and objects as JSON, YAML or names. */
import { stringify } from "yaml";
import type { Resource } from "../core/object.ts";

export const asJson = (value: unknown): string => JSON.stringify(value, null, 2);

export const asYaml = (value: unknown): string =>
  stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd();

/** Several objects as one YAML stream. */
export const asDocuments = (objects: readonly unknown[]): string =>
  objects.map((object) => `---\n${asYaml(object)}`).join("\n");

/** As kubectl names things: `sparkapplication.sparkoperator.k8s.io/NAME`. */
export const nameText = ({ kind, group }: Pick<Resource, "kind" | "group">, name: string): string =>
  `${kind.toLowerCase()}${group === "" ? "" : `.${group}`}/${name}`;
