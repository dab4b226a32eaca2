/** Records the rights that a lane used: the grants of each shipped account, and those that the API server saw used. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { lookoutRules } from "../../../shared/installation/feature-rules.ts";
import { functionRulesOf } from "../../../shared/installation/function-rights.ts";
import {
  certificateRules,
  hostRulesOf,
  leaseRules,
  nodeRules,
  registrationRulesOf,
} from "../../../shared/installation/roles.ts";
import type { Rule } from "../../../shared/installation/rule.ts";
import { defaultFamilies, families, features } from "../../../shared/kube/resources.ts";
import type { Audit, Request } from "../cluster/audit.ts";
import { cacheDir } from "../setup/part.ts";

/** Rights by account, each as `verb resource.group`. */
const byAccount = z.record(z.string(), z.array(z.string()).readonly());

/** The rights that one lane granted, used, and was refused. */
export const evidence = z.object({ lane: z.string(), granted: byAccount, used: byAccount, refused: byAccount });

export type Evidence = z.infer<typeof evidence>;

/** The folder of the recorded rights, one file per lane. */
export const evidenceDir = (): string => join(cacheDir(), "rights");

export const rightText = (verb: string, resource: string, group: string): string =>
  `${verb} ${resource}${group === "" ? "" : `.${group}`}`;

/** The rights of rules, each as `verb resource.group`. */
export const rightsIn = (rules: readonly Rule[]): readonly string[] => [
  ...new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((what) => verbs.map((verb) => rightText(verb, what, group)))),
    ),
  ),
];

const ofHost = rightsIn([...hostRulesOf(defaultFamilies, features), ...lookoutRules, ...nodeRules]);

/**
 * The rights that are shipped for the default families, by account; those that admission, and other families, need beside a
 * host of these are listed separately.
 */
export const shipped: Readonly<Record<string, readonly string[]>> = {
  rekindle: ofHost,
  "rekindle with apache": rightsIn(hostRulesOf(families, features)).filter((right) => !ofHost.includes(right)),
  "rekindle with admission": rightsIn([...registrationRulesOf(defaultFamilies), ...certificateRules]).filter(
    (right) => !ofHost.includes(right),
  ),
  ...Object.fromEntries(
    Object.entries(functionRulesOf(defaultFamilies, features)).map(([name, rules]) => [
      `rekindle-${name}`,
      rightsIn(name === "dispatch" ? [...rules, ...leaseRules] : rules),
    ]),
  ),
};

/** Rights whose refusal is expected: they serve optional features, granted by a flag of `rekindle manifests`. */
export const optional: readonly string[] = ["list nodes", "patch nodes", "watch nodes", "list namespaces"];

/** Returns the refused requests of accounts that their deployment needs, as `ACCOUNT was refused VERB RESOURCE`. */
export const refusedIn = (requests: readonly Request[]): readonly string[] => [
  ...new Set(
    requests
      .filter(({ allowed, resource }) => !allowed && resource !== "")
      .map(({ account, verb, resource, group }) => ({ account, right: rightText(verb, resource, group) }))
      .filter(({ right }) => !optional.includes(right))
      .map(({ account, right }) => `${account} was refused ${right}`),
  ),
];

const sorted = (rights: Iterable<string>): string[] => [...new Set(rights)].toSorted();

const gathered = (requests: readonly Request[]): Evidence["used"] => {
  const accounts = Map.groupBy(requests, ({ account }) => account);
  return Object.fromEntries(
    [...accounts].map(([name, own]) => [
      name,
      sorted(own.map(({ verb, resource, group }) => rightText(verb, resource, group))),
    ]),
  );
};

/**
 * True if a binding of Rekindle allowed the request; the rights of every authenticated user, such as discovery, do not
 * count.
 */
const isOurs = ({ allowed, reason }: Request): boolean => allowed && /Binding "rekindle-/.test(reason);

export type Lane = {
  readonly lane: string;
  /** The filter of `--case`: a run of some cases uses fewer rights than the lane, so it records none. */
  readonly only?: string | undefined;
};

/** Writes the evidence of the lane for `npm run infra:check -- --part rights`. */
export const leaveRights = async (
  { lane, only }: Lane,
  audit: Pick<Audit, "read">,
  dir: string = evidenceDir(),
): Promise<void> => {
  if (only !== undefined) return;
  const requests = (await audit.read()).filter(({ resource }) => resource !== "");
  const seen: Evidence = {
    lane,
    granted: shipped,
    used: gathered(requests.filter(isOurs)),
    refused: gathered(requests.filter(({ allowed }) => !allowed)),
  };
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, `${lane}.json`), `${JSON.stringify(seen, null, 1)}\n`);
};
