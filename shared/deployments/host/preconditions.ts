/**
 * Checks before a host starts: the rights of its account, of which a role of an older version or one that was cut down
 * lacks some, and the namespaces that its settings name.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { request } from "../../adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { hostRulesOf } from "../../installation/roles.ts";
import type { Rule } from "../../installation/rule.ts";
import { defaultFamilies, type Family, namespaces } from "../../kube/resources.ts";
import type { Configuration } from "../settings/table.ts";

const names = z.array(z.string()).nullish();

const rules = z.array(z.object({ verbs: names, apiGroups: names, resources: names, resourceNames: names }));

const review = z.object({
  status: z.object({ incomplete: z.boolean().default(false), resourceRules: rules.nullish() }),
});

type Given = z.infer<typeof rules>;

type Right = { readonly verb: string; readonly resource: string; readonly group: string };

const rightsIn = (rules: readonly Rule[]): readonly Right[] =>
  rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => ({ verb, resource, group })))),
  );

const holds = (all: readonly string[] | null | undefined, one: string): boolean =>
  all?.includes(one) === true || all?.includes("*") === true;

const isGiven = (given: Given, { verb, resource, group }: Right): boolean =>
  given.some(
    (rule) =>
      holds(rule.verbs, verb) &&
      holds(rule.apiGroups, group) &&
      holds(rule.resources, resource) &&
      (rule.resourceNames ?? []).length === 0,
  );

/**
 * Resources without which a host can run nothing. A missing right to any other holds up only the work that needs it,
 * and is reported.
 */
const essential = new Set([
  ...["pods", "services", "configmaps"].map((resource) => `/${resource}`),
  ...["sparkoperator.k8s.io/sparkapplications", "rekindle.dev/checkpoints"],
]);

export type MissingPrecondition = {
  /** One line that says what to change; undefined: nothing is missing, or the server cannot tell. */
  readonly line: string | undefined;
  /** True: the host cannot work, and does not start. */
  readonly fatal: boolean;
};

const nothing: MissingPrecondition = { line: undefined, fatal: false };

type PreconditionContext = {
  readonly transport: Transport;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Families to run; absent: the default ones. */
  readonly families?: readonly Family[];
  /** True: records are stored outside the cluster, so rights to `Checkpoint` objects are not needed. */
  readonly elsewhere: boolean;
};

const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

const lackingIn = async (
  { transport, families: chosen = defaultFamilies, elsewhere }: PreconditionContext,
  namespace: string,
): Promise<readonly Right[]> => {
  const answer = await request(transport, "POST", path, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectRulesReview",
    spec: { namespace },
  });
  const { incomplete, resourceRules } = review.parse(answer).status;
  // Authorizers other than RBAC cannot list what they allow.
  if (incomplete) return [];
  return rightsIn(hostRulesOf(chosen))
    .filter(({ group }) => !(elsewhere && group === "rekindle.dev"))
    .filter((right) => !isGiven(resourceRules ?? [], right));
};

const lineOf = (rights: readonly Right[], namespace: string): string => {
  const named = rights
    .slice(0, 3)
    .map(({ verb, resource, group }) => `${verb} ${resource}${group === "" ? "" : `.${group}`}`);
  const more = rights.length > named.length ? ` and ${rights.length - named.length} more` : "";
  return `this account may not ${named.join(", ")}${more} in namespace ${namespace}: grant it what rekindle manifests --rbac-only prints`;
};

/** Checks each named namespace; where none is named, `default` stands for all. */
const lookedAt = async (context: PreconditionContext): Promise<MissingPrecondition> => {
  for (const namespace of context.namespaces.length === 0 ? ["default"] : context.namespaces) {
    const rights = await lackingIn(context, namespace);
    const worst = rights.filter(({ group, resource }) => essential.has(`${group}/${resource}`));
    if (rights.length > 0)
      return { line: lineOf(worst.length > 0 ? worst : rights, namespace), fatal: worst.length > 0 };
  }
  return nothing;
};

/** Delays before each retry, ms: the authorizer learns of a new role with a delay. */
const againMs = [500, 1_500, 4_000];

/**
 * Returns the rights that the account lacks; nothing where the server does not answer the review, because the first
 * step then reports the error.
 */
export const findLacking = async (
  context: PreconditionContext,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<MissingPrecondition> => {
  try {
    let found = await lookedAt(context);
    for (const ms of againMs) {
      if (found.line === undefined) return found;
      await wait(ms);
      found = await lookedAt(context);
    }
    return found;
  } catch (cause) {
    if (cause instanceof ApiError || cause instanceof z.ZodError) return nothing;
    throw cause;
  }
};

/** Returns false where the account lacks an essential right. A dry run writes nothing and is not checked. */
export const mayBegin = async (
  warn: (line: string) => void,
  { namespaces, families, dryRun }: Pick<Configuration, "namespaces" | "families" | "dryRun">,
  transport: Transport,
  elsewhere: boolean,
): Promise<boolean> => {
  if (dryRun) return true;
  const { line, fatal } = await findLacking({ transport, namespaces, families, elsewhere });
  if (line !== undefined) warn(`rekindle host: ${line}`);
  return !fatal;
};

/** Returns the namespaces that do not exist, which are most often misspelt. A failed read counts as existing. */
export const missing = async (transport: Transport, names: readonly string[]): Promise<readonly string[]> => {
  const cluster = openCluster(transport);
  const found = names.map((name) =>
    cluster.get({ resource: namespaces, name }).then(
      ({ value }) => value === undefined,
      () => false,
    ),
  );
  const gone = await Promise.all(found);
  return names.filter((_, at) => gone[at] === true);
};

/** Returns the host's scope as one line. */
export const scopeText = ({ namespaces, namespaceSelector, selector, dryRun }: Configuration): string =>
  [
    ...(namespaces.length === 0 ? [] : [`namespaces ${namespaces.join(", ")}`]),
    ...(namespaceSelector === "" ? [] : [`namespaces with ${namespaceSelector}`]),
    ...(namespaces.length === 0 && namespaceSelector === "" ? ["all namespaces"] : []),
    ...(selector === "" ? [] : [`applications with ${selector}`]),
    ...(dryRun ? ["dry run: nothing is written"] : []),
  ].join("; ");
