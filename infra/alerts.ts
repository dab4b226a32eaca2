/**
 * Prints the alert rules with links to the runbooks: `npm run --silent alerts -- BASE` with the URL under which an
 * installation keeps these sources. Without BASE the rules stay as they are: each names its runbook by its path.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const rules = readFileSync(join(import.meta.dirname, "grafana", "alerts.yaml"), "utf8");

const baseOf = (text: string): string => {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error(`alerts: ${JSON.stringify(text)} is no http:// or https:// URL`);
  return text.replace(/\/+$/, "");
};

/** The rules; with a base each annotation `runbook` becomes an absolute `runbook_url`. */
export const alertRules = (base: string | undefined): string =>
  base === undefined
    ? rules
    : rules
        .replace(/^# `runbook` .*\n/m, "")
        .replaceAll(/^( +)runbook: (.+)$/gm, (_, indent, path) => `${indent}runbook_url: ${baseOf(base)}/${path}`);

if (import.meta.main) process.stdout.write(alertRules(process.argv[2]));
