/** What a lane leaves behind of rights: what each account of ours was granted, and which of it the API server saw used. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { functionRules } from "../../../shared/cli/installation/functions.ts";
import {
  certificateRules,
  hostRules,
  lookoutRules,
  nodeRules,
  type Rule,
  registrationRules,
} from "../../../shared/cli/installation/roles.ts";
import type { Audit, Request } from "../cluster/audit.ts";
import { cacheDir } from "../setup/part.ts";

/** Rights by account, each as `verb resource.group`. */
const byAccount = z.record(z.string(), z.array(z.string()).readonly());

/** What one lane saw. */
export const evidence = z.object({ lane: z.string(), granted: byAccount, used: byAccount, refused: byAccount });

export type Evidence = z.infer<typeof evidence>;

/** Where lanes leave it, a file each. */
export const evidenceDir = (): string => join(cacheDir(), "rights");

export const rightText = (verb: string, resource: string, group: string): string =>
  `${verb} ${resource}${group === "" ? "" : `.${group}`}`;

const rightsIn = (rules: readonly Rule[]): readonly string[] => [
  ...new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((what) => verbs.map((verb) => rightText(verb, what, group)))),
    ),
  ),
];

const ofHost = rightsIn([...hostRules, ...lookoutRules, ...nodeRules]);

/** What is shipped, by account; what admission takes beside a host stands apart. */
export const shipped: Readonly<Record<string, readonly string[]>> = {
  rekindle: ofHost,
  "rekindle with admission": rightsIn([...registrationRules, ...certificateRules]).filter(
    (right) => !ofHost.includes(right),
  ),
  ...Object.fromEntries(Object.entries(functionRules).map(([name, rules]) => [`rekindle-${name}`, rightsIn(rules)])),
};

/** Asked for where they may be refused: what they bring is an extra, granted by a flag of `rekindle manifests`. */
export const optional: readonly string[] = ["list nodes", "patch nodes", "watch nodes", "list namespaces"];

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

/** Only what a binding of ours allowed: what every login may, such as discovery, is nobody's right. */
const isOurs = ({ allowed, reason }: Request): boolean => allowed && /Binding "rekindle-/.test(reason);

export type Lane = {
  readonly lane: string;
  /** The filter of `--case`: a run of some cases uses fewer rights than the lane, and leaves nothing behind. */
  readonly only?: string | undefined;
};

/** Keeps it for `npm run infra:check -- --part rights`. */
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
