/**
 * Prints the alert rules with links: `npm run --silent alerts -- BASE PAGE`, with the URL under which an installation
 * keeps these sources, for the runbooks, and the URL of Rekindle's page. Without both the rules stay as they are: each
 * names its runbook by its path, and the page by the query of its address.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const rules = readFileSync(join(import.meta.dirname, "grafana", "alerts.yaml"), "utf8");

const urlOf = (text: string): string => {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error(`alerts: ${JSON.stringify(text)} is no http:// or https:// URL`);
  return text.replace(/\/+$/, "");
};

/**
 * The rules. With a base each annotation `runbook` becomes an absolute `runbook_url`; with the page's URL each `page`
 * becomes an absolute `page_url`, else it is left out.
 */
export const alertRules = (base: string | undefined, page?: string): string => {
  if (base === undefined) return rules;
  const linked = rules
    .replaceAll(/^# `.*\n/gm, "")
    .replaceAll(/^( +)runbook: (.+)$/gm, (_, indent, path) => `${indent}runbook_url: ${urlOf(base)}/${path}`);
  return page === undefined
    ? linked.replaceAll(/^ +page: .+\n/gm, "")
    : linked.replaceAll(/^( +)page: (.+)$/gm, (_, indent, query) => `${indent}page_url: ${urlOf(page)}?${query}`);
};

if (import.meta.main) process.stdout.write(alertRules(process.argv[2], process.argv[3]));
