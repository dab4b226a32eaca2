/**
 * The only module that writes YAML. kubectl, Helm and kustomize read YAML 1.1, where plain `on`, `no`, `y`, `0o17`,
 * `1:30` or `1e_3` are no strings: every string that some reader takes for something else is quoted here.
 */
import { Document, isScalar, Scalar, visit } from "yaml";

/** Matches the numbers of Go's YAML library: it drops every underscore first, and knows the prefixes of Go. */
const goNumber =
  /^[-+]?(0b[01]+|0o[0-7]+|0x[\da-f]+|\d+|(\.\d+|\d+(\.\d*)?)(e[-+]?\d+)?|\d+(:[0-5]?\d)+(\.\d*)?|\.(inf|nan))$/i;

/** Matches the words that YAML 1.1 takes for a boolean, nothing, a merge or a default value, in any case. */
const words = /^(y|n|yes|no|on|off|true|false|null|~|<<|=|)$/i;

const isAmbiguous = (text: string): boolean => words.test(text) || goNumber.test(text.replaceAll("_", ""));

/** `value` as one YAML document. Its strings are strings for readers of YAML 1.1 and of YAML 1.2. */
export const yamlText = (value: unknown): string => {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
  visit(document, {
    Scalar: (_, node) => {
      if (isScalar(node) && typeof node.value === "string" && isAmbiguous(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ lineWidth: 0 });
};

/** Several objects as one stream, each document with its separator. */
export const yamlStream = (values: readonly unknown[]): string =>
  values.map((value) => `---\n${yamlText(value)}`).join("");
