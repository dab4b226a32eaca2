/**
 * The packages of package.json: the files of the product that import each one for its work, and the reason why it is there.
 * An import of types only is no work: nothing of it is left at run time.
 */
import * as z from "zod";
import { read, sourcesUnder } from "./sources.ts";

/** The packages that the project's user named. Each must do the work that it is named for. */
export const asked = ["@aws-sdk/client-sqs", "@kubernetes/client-node", "esbuild", "hono", "zod"] as const;

export const purposes: Readonly<Record<string, string>> = {
  "@aws-sdk/client-dynamodb": "records in a table",
  "@aws-sdk/client-s3": "uploads of submitted files to S3; an optional peer, loaded by its name",
  "@aws-sdk/client-secrets-manager": "secrets and cluster records under an ARN",
  "@aws-sdk/client-sqs": "every call to SQS",
  "@aws-sdk/client-ssm": "secrets and cluster records in the Parameter Store",
  "@aws-sdk/credential-provider-node": "the identity in a token of EKS, by the rule of all clients of AWS",
  "@biomejs/biome": "lint and format, as a program",
  "@google-cloud/storage": "uploads of submitted files to Google Cloud Storage; an optional peer, loaded by its name",
  "@hono/node-server": "hono's applications on a port",
  "@kubernetes/client-node": "kubeconfigs, service accounts of processes, logins; types of Kubernetes' objects",
  "@lezer/highlight": "needed by @prometheus-io/lezer-promql",
  "@lezer/lr": "needed by @prometheus-io/lezer-promql",
  "@nats-io/transport-node": "queues on NATS",
  "@opentelemetry/api": "traces, where an application has set up OpenTelemetry",
  "@opentelemetry/sdk-trace-base": "reads the traces that tests make",
  "@peculiar/x509": "certificates of webhooks",
  "@preact/signals": "the page's state",
  "@prometheus-io/lezer-promql": "parses the expressions of alerts in tests",
  "@seriousme/openapi-schema-validator": "judges the OpenAPI document in tests",
  "@smithy/core": "query and digest of a token of EKS",
  "@smithy/signature-v4": "the signature of a token of EKS",
  "@types/node": "types of Node",
  "@types/oidc-provider": "types of oidc-provider",
  "axe-core": "judges the page's accessibility in tests",
  commander: "the command line",
  esbuild: "bundles of functions, of the page and of the package",
  "fast-check": "random cases in tests",
  hono: "HTTP: admission, triggers, the page and its interface",
  jose: "tokens of identity providers",
  "js-yaml": "a kubeconfig's YAML, by client-node's own library for it",
  knip: "finds dead code, as a program",
  node: "the Node that runs everything here",
  "oidc-provider": "an identity provider in tests",
  pino: "logs of processes",
  "playwright-core": "a browser in tests",
  preact: "the page",
  "prom-client": "metrics",
  "reflect-metadata": "needed by @peculiar/x509",
  "socks-proxy-agent": "a kubeconfig's proxy of SOCKS, by client-node's own library for it",
  typescript: "checks types, as a program, and makes the package's",
  yaml: "manifests, and what the command line prints",
  zod: "schemas: settings, specs, CRDs, answers",
};

export type Use = {
  readonly name: string;
  readonly why: string;
  /** Files of the product that import it for its work, and those that import its types only. */
  readonly files: readonly string[];
  readonly types: readonly string[];
  /** The number of test files that import it. */
  readonly tests: number;
};

const escaped = (name: string): string => name.replace(/[./]/g, "\\$&");

/** Says how a text imports a package: for its work, for its types, or not at all. */
export const importIn = (text: string, name: string): "work" | "types" | undefined => {
  if (!text.includes(name)) return undefined;
  const specifier = `["']${escaped(name)}(?:/[^"']*)?["']`;
  const has = (pattern: string): boolean => new RegExp(pattern, "m").test(text);
  const fixed = `^(?:import|export) (?!type\\b)(?:[^;"'\`=]*? from )?${specifier}`;
  const lazy = `(?<!typeof )\\bimport\\(\\s*${specifier}`;
  // A package that the caller may lack is loaded in a way that bundlers do not follow.
  const byName = `^const \\w+ = ${specifier};|createRequire\\([^)]*\\)\\(${specifier}\\)`;
  if (has(fixed) || has(lazy) || has(byName)) return "work";
  return has(specifier) && has(`^import type [^;"'\`=]*? from ${specifier}|typeof import\\(${specifier}`)
    ? "types"
    : undefined;
};

/** `product` and `tests`: texts of files by their paths. */
export const usesOf = (
  names: readonly string[],
  product: ReadonlyMap<string, string>,
  tests: ReadonlyMap<string, string>,
): readonly Use[] =>
  names.map((name) => {
    const found = [...product].map(([file, text]) => ({ file, how: importIn(text, name) }));
    const of = (wanted: "work" | "types"): readonly string[] =>
      found.filter(({ how }) => how === wanted).map(({ file }) => file);
    const inTests = [...tests.values()].filter((text) => importIn(text, name) !== undefined);
    const why = purposes[name] ?? "";
    return { name, why, files: of("work"), types: of("types"), tests: inTests.length };
  });

const manifest = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()),
});

/** The names of all dependencies. */
export const dependencies = (): readonly string[] => {
  const { dependencies: own, devDependencies } = manifest.parse(JSON.parse(read("package.json")));
  return Object.keys({ ...own, ...devDependencies }).sort();
};

const textsUnder = (...folders: readonly string[]): ReadonlyMap<string, string> =>
  new Map(sourcesUnder(...folders).map((file) => [file, read(file)]));

export const allUses = (): readonly Use[] =>
  usesOf(dependencies(), textsUnder("functions", "shared", "infra"), textsUnder("test"));

const placeOf = ({ files, types, tests }: Use): string => {
  if (files.length > 0) return files.length === 1 ? "1 file" : `${files.length} files`;
  if (types.length > 0) return "types only";
  return tests > 0 ? `only tests import it (${tests})` : "a program, or needed by another package: nothing imports it";
};

/** Returns the text of `npm run house -- --packages`. */
export const packagesText = (uses = allUses()): string =>
  uses
    .map((use) =>
      [
        `${use.name}${asked.some((name) => name === use.name) ? " (asked for)" : ""}: ${use.why}; ${placeOf(use)}`,
        ...use.files.map((file) => `  ${file}`),
        ...use.types.map((file) => `  ${file} (types)`),
      ].join("\n"),
    )
    .join("\n");
