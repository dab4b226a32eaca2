/** Everything in this folder that is made from code: CRDs, kustomizations, the table of settings. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { openApi } from "../shared/api/openapi.ts";
import { rightsTable } from "../shared/cli/installation/rights.ts";
import { policiesText } from "../shared/cli/manifests.ts";
import { yamlText } from "../shared/cli/yaml.ts";
import { markdownTable } from "../shared/deployments/settings/help.ts";
import { chartFiles } from "./chart.ts";
import { crdFiles } from "./definitions.ts";
import { kustomizations } from "./kustomize.ts";

/** A file by its path from infra/. */
export type Generated = { readonly path: string; readonly text: string };

const crds = (): readonly Generated[] =>
  crdFiles().map(({ file, object }) => ({
    path: `crds/${file}`,
    text: yamlText(object),
  }));

const version = (): string => {
  const found: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8"));
  return typeof found === "object" && found !== null && "version" in found ? String(found.version) : "0.0.0";
};

/** What the door shows under /openapi.json. */
const openapi = (): Generated => ({
  path: "../shared/api/openapi.json",
  text: `${JSON.stringify(openApi(version()), undefined, 2)}\n`,
});

/** What `rekindle manifests --policies` prints. */
const policies = (): Generated => ({ path: "kubernetes/policies.yaml", text: policiesText({ namespaces: [] }) });

const settings = (): Generated => {
  const readme = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
  const [before = "", after = ""] = readme.split(/<!-- settings -->[\s\S]*<!-- \/settings -->/);
  const table = `<!-- settings -->\n${markdownTable()}\n<!-- /settings -->`;
  return { path: "README.md", text: `${before}${table}${after}` };
};

/** The table of rights in the page on Kubernetes. */
const rights = (): Generated => {
  const page = readFileSync(join(import.meta.dirname, "kubernetes", "README.md"), "utf8");
  const [before = "", after = ""] = page.split(/<!-- rights -->[\s\S]*<!-- \/rights -->/);
  return {
    path: "kubernetes/README.md",
    text: `${before}<!-- rights -->\n${rightsTable()}\n<!-- /rights -->${after}`,
  };
};

export const generated = (): readonly Generated[] => {
  const definitions = [...crds()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const kustomized = kustomizations(
    `rekindle:${version()}`,
    definitions.map(({ text }) => parse(text)),
  );
  return [...definitions, ...kustomized, ...chartFiles(version()), policies(), openapi(), settings(), rights()];
};
