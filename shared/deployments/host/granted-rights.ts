/** Whether the account that a host has may do what a host does, asked once before it begins: a role of before, or one cut too far. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { request } from "../../adapters/kubernetes/requests.ts";
import { hostRulesOf, type Rule } from "../../cli/installation/roles.ts";
import { ApiError } from "../../core/errors.ts";
import type { Transport } from "../../core/http.ts";
import { type Family, families } from "../../kube/families.ts";

const names = z.array(z.string()).nullish();

const review = z.object({
  status: z.object({
    incomplete: z.boolean().default(false),
    resourceRules: z
      .array(z.object({ verbs: names, apiGroups: names, resources: names, resourceNames: names }))
      .nullish(),
  }),
});

type Given = NonNullable<z.infer<typeof review>["status"]["resourceRules"]>;

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

/** Without these nothing can be run at all; without others only what needs them is held up, and told. */
const essential = new Set(["pods", "services", "configmaps", "sparkapplications", "checkpoints"]);

export type Lacking = {
  /** One line that says what to change; undefined: nothing is missing, or nobody can say. */
  readonly line: string | undefined;
  /** It is no use to begin. */
  readonly fatal: boolean;
};

const nothing: Lacking = { line: undefined, fatal: false };

type Asked = {
  readonly transport: Transport;
  /** Empty: everywhere. */
  readonly namespaces: readonly string[];
  /** Families of kinds that are run; absent: all. */
  readonly families?: readonly Family[];
  /** Records are kept elsewhere. */
  readonly elsewhere: boolean;
};

const path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

const lackingIn = async (
  { transport, families: chosen = families, elsewhere }: Asked,
  namespace: string,
): Promise<readonly Right[]> => {
  const answer = await request(transport, "POST", path, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectRulesReview",
    spec: { namespace },
  });
  const { incomplete, resourceRules } = review.parse(answer).status;
  // Other authorizers than roles cannot list what they allow.
  if (incomplete) return [];
  return rightsIn(hostRulesOf(chosen))
    .filter(({ group }) => !(elsewhere && group === "rekindle.dev"))
    .filter((right) => !isGiven(resourceRules ?? [], right));
};

const lineOf = (rights: readonly Right[], namespace: string): string => {
  const told = rights
    .slice(0, 3)
    .map(({ verb, resource, group }) => `${verb} ${resource}${group === "" ? "" : `.${group}`}`);
  const more = rights.length > told.length ? ` and ${rights.length - told.length} more` : "";
  return `this account may not ${told.join(", ")}${more} in namespace ${namespace}: grant it what rekindle manifests --rbac-only prints`;
};

/** Looks at each namespace; of those that are chosen by labels, and of all, at one in their place. */
const lookedAt = async (asked: Asked): Promise<Lacking> => {
  for (const namespace of asked.namespaces.length === 0 ? ["default"] : asked.namespaces) {
    const rights = await lackingIn(asked, namespace);
    const worst = rights.filter(({ resource }) => essential.has(resource));
    if (rights.length > 0)
      return { line: lineOf(worst.length > 0 ? worst : rights, namespace), fatal: worst.length > 0 };
  }
  return nothing;
};

/** A role that was applied a moment ago is known to the authorizer a moment later. */
const againMs = [500, 1_500, 4_000];

/** What the account lacks. Where the server does not answer such a question, nothing: the first step will tell. */
export const findLacking = async (asked: Asked, wait: (ms: number) => Promise<unknown> = sleep): Promise<Lacking> => {
  try {
    let found = await lookedAt(asked);
    for (const ms of againMs) {
      if (found.line === undefined) return found;
      await wait(ms);
      found = await lookedAt(asked);
    }
    return found;
  } catch (cause) {
    if (cause instanceof ApiError || cause instanceof z.ZodError) return nothing;
    throw cause;
  }
};
