/** All files made from code: CRDs, kustomizations, the chart, health checks, dashboards, the tables of the documentation. */
import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse } from "yaml";
import { openApi } from "../shared/api/openapi.ts";
import type { Obj } from "../shared/core/object.ts";
import { yamlText } from "../shared/inspection/io/documents.ts";
import { shownKinds } from "../shared/inspection/kinds/all.ts";
import { defaultFamilies } from "../shared/kube/resources.ts";
import { familyOf } from "../shared/registry/names.ts";
import { healthChecks } from "./argocd.ts";
import { chartFiles } from "./chart.ts";
import { commandPages } from "./commands.ts";
import { withDashboard } from "./dashboards/cloudwatch.ts";
import { grafanaDashboard } from "./dashboards/grafana.ts";
import { crdFiles } from "./definitions.ts";
import { kustomizations } from "./kustomize.ts";
import { filled } from "./reference.ts";
import { registryFiles } from "./registry.ts";

/** A file by its path from infra/. */
export type Generated = { readonly path: string; readonly text: string };

/** Helm and kustomize install all of `crds`, and those of `optional-crds/FAMILY` where this family is chosen. */
const folderOf = (object: Obj): string => {
  const { name } = object.metadata;
  const family = familyOf(name.slice(name.indexOf(".") + 1));
  return family === undefined || defaultFamilies.includes(family) ? "crds" : `optional-crds/${family}`;
};

const crds = (): readonly Generated[] =>
  crdFiles().map(({ file, object }) => ({
    path: `${folderOf(object)}/${file}`,
    text: yamlText(object),
  }));

const version = (): string => {
  const found: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8"));
  return typeof found === "object" && found !== null && "version" in found ? String(found.version) : "0.0.0";
};

/** The document under /openapi.json of the HTTP API. */
const openapi = (): Generated => ({
  path: "../shared/api/openapi.json",
  text: `${JSON.stringify(openApi(version(), shownKinds), undefined, 2)}\n`,
});

/** The dashboard of Grafana, and the AWS template with that of CloudWatch. */
const dashboards = (): readonly Generated[] => [
  { path: "grafana/dashboard.json", text: grafanaDashboard() },
  {
    path: "aws/template.yaml",
    text: withDashboard(readFileSync(join(import.meta.dirname, "aws", "template.yaml"), "utf8")),
  },
];

/** Pages of the documentation with tables from code. */
export const pageFiles = async (): Promise<readonly Generated[]> => {
  const commands = await commandPages();
  const root = join(import.meta.dirname, "..");
  return globSync(["infra/**/*.md", "shared/**/*.md", "functions/*.md"], { cwd: root })
    .sort()
    .flatMap((path) => {
      const page = readFileSync(join(root, path), "utf8");
      const text = filled(page, { commands: () => commands });
      return /<!-- \/[a-z-]+ -->/.test(page) ? [{ path: relative("infra", path), text }] : [];
    });
};

export const generated = async (): Promise<readonly Generated[]> => {
  const definitions = [...crds()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const kustomized = kustomizations(
    `rekindle:${version()}`,
    Object.fromEntries(definitions.map(({ path, text }) => [path, parse(text)])),
  );
  const health = { path: "argocd/health.yaml", text: healthChecks() };
  const whole = [...definitions, ...kustomized, ...chartFiles(version()), openapi(), health];
  return [...whole, ...dashboards(), ...(await registryFiles()), ...(await pageFiles())];
};
