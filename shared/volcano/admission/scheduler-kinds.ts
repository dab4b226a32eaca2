/**
 * Admission of the kinds that Volcano's scheduler reads: queues, with upstream's defaults; PodGroups, with the queue
 * of their namespace; HyperNodes, of whose members each has one selector, and a valid one. The rules are those of
 * upstream's webhook, in its words.
 */
import * as z from "zod";
import { fieldsOf, isRecord, same, withoutNulls } from "../../core/json.ts";
import { errorText } from "../../core/text.ts";
import { type AdmittedObject, additions, type PatchOperation } from "../../kube/admission.ts";
import { queueNameKey } from "../../kube/gang-members.ts";
import { qualifiedNameErrors } from "../../kube/names.ts";
import { type Quantity, quantityText } from "../../kube/quantity.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { fromRoot, hierarchyErrors, invalid, joinedErrors, specGaps } from "../queue/defaults.ts";
import { notFound } from "../queue/state/tree.ts";
import { keys } from "../schema/resource.ts";
import { goList } from "../schema/spec.ts";
import {
  type Amounts,
  childrenOf,
  deletionSaying,
  parentSaying,
  type Queue,
  type QueueView,
  readAmounts,
  treeSaying,
} from "./tree.ts";

const spec = "requestBody.spec";

/** True for resources without fractions: object counts, and vendors' resources. */
const isWhole = (name: string): boolean =>
  ["pods", "services", "secrets", "configmaps", "persistentvolumeclaims"].includes(name) ||
  (name.includes("/") && !/(^|\.)kubernetes\.io\//.test(name) && !name.startsWith("requests."));

const thousandth = 1_000_000n;
const one = 1_000n * thousandth;

const inParts = ({ nano }: Quantity): boolean => {
  const up = nano % thousandth === 0n ? nano : (nano / thousandth + 1n) * thousandth;
  return up % one !== 0n;
};

const valueErrors = (path: string, name: string, amount: Quantity): readonly string[] => [
  ...(amount.nano < 0n ? [invalid(path, quantityText(amount), "must be greater than or equal to 0")] : []),
  ...(isWhole(name) && inParts(amount) ? [invalid(path, quantityText(amount), "must be an integer")] : []),
];

const valuesErrors = (path: string, amounts: Amounts): readonly string[] =>
  [...amounts].flatMap(([name, amount]) => valueErrors(`${path}.${name}`, name, amount));

type Sizes = { readonly capability: Amounts; readonly deserved: Amounts; readonly guarantee: Amounts };

const guaranteeErrors = ({ guarantee, deserved }: Sizes): readonly string[] =>
  [...guarantee].flatMap(([name, least]) => {
    const own = valueErrors(`${spec}.guarantee.resource.${name}`, name, least);
    const path = `${spec}.deserved.${name}`;
    const wanted = `must be >= guarantee[${name}]=${quantityText(least)}`;
    const amount = deserved.get(name);
    if (amount === undefined) return [...own, invalid(path, "<nil>", `deserved[${name}] ${wanted}`)];
    if (amount.nano >= least.nano) return own;
    return [...own, invalid(path, quantityText(amount), `deserved[${name}]=${quantityText(amount)} ${wanted}`)];
  });

const deservedErrors = ({ deserved, capability }: Sizes): readonly string[] =>
  [...deserved].flatMap(([name, amount]) => {
    const bound = capability.get(name);
    if (bound === undefined || amount.nano <= bound.nano) return [];
    const message = `deserved[${name}]=${quantityText(amount)} must be <= capability[${name}]=${quantityText(bound)}`;
    return [invalid(`${spec}.deserved.${name}`, quantityText(amount), message)];
  });

/** Checks guarantee, deserved and capability of a queue: each is an amount, and none exceeds the next. */
const capacityErrors = (sizes: Sizes): readonly string[] => [
  ...valuesErrors(`${spec}.capability`, sizes.capability),
  ...valuesErrors(`${spec}.deserved`, sizes.deserved),
  ...guaranteeErrors(sizes),
  ...deservedErrors(sizes),
];

const amounts = z.record(z.string(), z.unknown()).optional();

const queueShape = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()).optional() }),
  spec: z
    .looseObject({
      parent: z.string().optional(),
      weight: z.int().optional(),
      reclaimable: z.boolean().optional(),
      capability: amounts,
      deserved: amounts,
      guarantee: z.looseObject({ resource: amounts }).optional(),
    })
    .optional(),
  status: z.looseObject({ state: z.string().optional(), allocated: amounts }).optional(),
});

type Read = { readonly ok: true; readonly queue: Queue } | { readonly ok: false; readonly message: string };

/** Reads a queue as the API server stores it; otherwise returns its errors. */
export const readQueue = (object: AdmittedObject, name: string): Read => {
  const parsed = queueShape.safeParse(withoutNulls(object), reportingInput);
  if (!parsed.success) return { ok: false, message: explain(parsed.error, "queue") };
  const { metadata, spec = {}, status = {} } = parsed.data;
  const capability = readAmounts(spec.capability, "spec.capability");
  const deserved = readAmounts(spec.deserved, "spec.deserved");
  const guarantee = readAmounts(spec.guarantee?.resource, "spec.guarantee.resource");
  const wrong = [capability, deserved, guarantee].flatMap((one) => one.wrong);
  if (wrong.length > 0) return { ok: false, message: wrong.join("; ") };
  const queue = {
    name,
    parent: spec.parent ?? "",
    state: status.state ?? "",
    annotations: metadata.annotations ?? {},
    capability: capability.amounts,
    deserved: deserved.amounts,
    guarantee: guarantee.amounts,
    allocated: readAmounts(status.allocated, "status.allocated").amounts,
  };
  return { ok: true, queue };
};

const states = ["Open", "Closed"];

const stateErrors = ({ state }: Queue): readonly string[] =>
  state === "" || states.includes(state)
    ? []
    : [invalid("requestBody.spec.state", state, `queue state must be in [${states.join(" ")}]`)];

const plain = (held: Amounts): unknown => Object.fromEntries([...held].map(([name, { nano }]) => [name, `${nano}`]));

/** True if upstream checks the whole tree: for a new queue, another parent, or other amounts. */
const movesTree = (queue: Queue, before: Queue | undefined): boolean => {
  if (queue.name === "root") return false;
  const judgedFields = ({ parent, capability, deserved, guarantee }: Queue): unknown => [
    parent,
    ...[capability, deserved, guarantee].map(plain),
  ];
  return before === undefined || !same(judgedFields(queue), judgedFields(before));
};

type QueueChange = {
  readonly operation: string;
  readonly queue: Queue;
  /** The queue before an update. */
  readonly before?: Queue;
  /** All queues; absent: they could not be read, and only the queue itself is judged. */
  readonly all?: readonly Queue[];
};

const written = ({ queue, before, all }: QueueChange): string => {
  const own = joinedErrors([...capacityErrors(queue), ...stateErrors(queue), ...hierarchyErrors(queue, all ?? [])]);
  if (own !== "" || all === undefined) return own;
  const moved = before === undefined || before.parent !== queue.parent ? parentSaying(queue, all) : "";
  if (moved !== "") return moved;
  return movesTree(queue, before) ? treeSaying(queue, all) : "";
};

/** Returns why the change is refused; empty if it may be made. */
export const queueChangeSaying = (change: QueueChange): string => {
  const { operation, queue, all } = change;
  if (operation === "DELETE") return deletionSaying(queue.name, all);
  return operation === "CREATE" || operation === "UPDATE"
    ? written(change)
    : `invalid operation \`${operation}\`, expect operation to be \`CREATE\`, \`UPDATE\` or \`DELETE\``;
};

/** Returns the queue with its defaults, the same in admission and in reconcile. */
const queueDefaults = (object: AdmittedObject): AdmittedObject => {
  const { metadata, spec } = object;
  const parsed = queueShape.safeParse(withoutNulls(object));
  if (!parsed.success) return object;
  const { annotations } = parsed.data.metadata;
  return {
    ...object,
    metadata: annotations === undefined ? metadata : { ...metadata, annotations: fromRoot(annotations) },
    spec: { ...fieldsOf(spec), ...specGaps(parsed.data.spec ?? {}) },
  };
};

export const queuePatch = (object: AdmittedObject): readonly PatchOperation[] =>
  additions(object, queueDefaults(object), "");

/** Returns the fields of a queue that jobs and groups depend on. */
export const viewOf = (queue: Queue, all: readonly Queue[]): { name: string; state: string; children: number } => ({
  name: queue.name,
  state: queue.state,
  children: childrenOf(queue.name, all).length,
});

const topology = z
  .looseObject({ highestTierAllowed: z.int().optional(), highestTierName: z.string().optional() })
  .optional();

const groupShape = z.looseObject({
  queue: z.string().optional(),
  networkTopology: topology,
  subGroupPolicy: z.array(z.looseObject({ name: z.string().optional(), networkTopology: topology })).optional(),
});

/** Finds a queue by its name. Without this function the queues could not be read. */
export type FindQueue = (name: string) => QueueView | undefined;

const queueSaying = (name: string, find: FindQueue | undefined): string => {
  if (name === "" || find === undefined) return "";
  const queue = find(name);
  if (queue === undefined) return `unable to find queue: ${notFound(name)}`;
  return queue.state === "Open"
    ? ""
    : `can only submit PodGroup to queue with state \`Open\`, queue \`${name}\` status is \`${queue.state}\`.`;
};

const twoTiers = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously.";

const hasBoth = (one: z.infer<typeof topology>): boolean =>
  one?.highestTierAllowed !== undefined && (one.highestTierName ?? "") !== "";

const topologySaying = ({ networkTopology, subGroupPolicy = [] }: z.infer<typeof groupShape>): string =>
  [
    ...(hasBoth(networkTopology) ? [twoTiers] : []),
    ...subGroupPolicy
      .filter((policy) => hasBoth(policy.networkTopology))
      .map(({ name = "" }) => `in subGroupPolicy '${name}': ${twoTiers}`),
  ].join(" ");

/** Returns why a new group is refused; empty if it may be stored. */
export const groupSaying = ({ spec }: AdmittedObject, find: FindQueue | undefined): string => {
  const parsed = groupShape.safeParse(withoutNulls(spec ?? {}), reportingInput);
  if (!parsed.success) return explain(parsed.error);
  return [queueSaying(parsed.data.queue ?? "", find), topologySaying(parsed.data)].filter(Boolean).join("; ");
};

/** True if the group's namespace may name another queue for it. */
export const asksNamespace = ({ spec }: AdmittedObject): boolean => isRecord(spec) && spec["queue"] === "default";

/** Replaces the default queue by the one that the namespace names. */
export const groupPatch = (
  object: AdmittedObject,
  annotations: Readonly<Record<string, string>>,
): readonly PatchOperation[] => {
  const queue = annotations[queueNameKey];
  return queue === undefined || !asksNamespace(object) ? [] : [{ op: "add", path: "/spec/queue", value: queue }];
};

const podShape = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()).optional() }),
  spec: z.looseObject({ schedulerName: z.string().optional() }).optional(),
});

const budgets = [keys.jdbMinAvailable, keys.jdbMaxUnavailable] as const;

const int32 = /^[+-]?\d+$/;

/** Reads a whole number as Go does; undefined if the text is none. */
const wholeOf = (text: string): number | undefined => {
  const value = int32.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
};

const budgetSaying = (key: string, text: string): string | undefined => {
  const quoted = JSON.stringify(text);
  const count = wholeOf(text);
  if (count !== undefined)
    return count > 0 ? undefined : `invalid value <${quoted}> for ${key}, it must be a positive integer`;
  const bare = text.replaceAll("%", "");
  const share = wholeOf(bare);
  if (share === undefined)
    return `invalid value strconv.Atoi: parsing ${JSON.stringify(bare)}: invalid syntax for ${key}`;
  return share > 0 && share < 100
    ? undefined
    : `invalid value <${quoted}> for ${key}, it must be a valid percentage which between 1% ~ 99%`;
};

/** Returns why a pod is refused; empty if it may be created. Pods of other schedulers are not checked. */
export const podSaying = (object: AdmittedObject, schedulers: readonly string[] = ["volcano"]): string => {
  const parsed = podShape.safeParse(object);
  if (!parsed.success || !schedulers.includes(parsed.data.spec?.schedulerName ?? "")) return "";
  const { annotations = {} } = parsed.data.metadata;
  const given = budgets.filter((key) => annotations[key] !== undefined);
  const wrong = given.map((key) => budgetSaying(key, annotations[key] ?? "")).find((saying) => saying !== undefined);
  if (wrong !== undefined) return wrong;
  return given.length > 1 ? `not allow configure multiple annotations <[${budgets.join(" ")}]> at same time` : "";
};

const selector = z.looseObject({
  exactMatch: z.looseObject({ name: z.string().default("") }).optional(),
  regexMatch: z.looseObject({ pattern: z.string().default("") }).optional(),
  labelMatch: z.looseObject({}).optional(),
});

const schema = z.looseObject({
  members: z.array(z.looseObject({ type: z.string().default(""), selector: selector.default({}) })).default([]),
});

type Member = z.infer<typeof schema>["members"][number];

const types: ReadonlySet<string> = new Set(["Node", "HyperNode"]);

/** Syntax that Go's expressions do not have: lookahead, lookbehind and backreferences. */
const foreign = /(?<!\\)(?:\\\\)*(\(\?<?[=!]|\\[1-9])/;

/** Translates Go's syntax of named groups, flags and character classes for JavaScript. */
const translated = (pattern: string): string =>
  pattern
    .replaceAll("(?P<", "(?<")
    .replaceAll(/\(\?[imsU-]+\)/g, "")
    .replaceAll(/\(\?[imsU-]+:/g, "(?:")
    .replaceAll(/\[:\^?[a-z]+:\]/g, "a");

/** Returns why a pattern is no valid expression; undefined if it is valid. The expression is never matched. */
const unreadable = (pattern: string): string | undefined => {
  const [, part] = foreign.exec(pattern) ?? [];
  if (part !== undefined) return `invalid or unsupported Perl syntax: \`${part}\``;
  try {
    new RegExp(translated(pattern));
    return undefined;
  } catch (cause) {
    return errorText(cause);
  }
};

const ofName = (name: string): string | undefined => {
  if (name === "") return "member exactMatch name is required";
  const wrong = qualifiedNameErrors(name);
  return wrong.length === 0 ? undefined : `member exactMatch validate failed ${goList(wrong)}`;
};

const ofPattern = (pattern: string): string | undefined => {
  if (pattern === "") return "member regexMatch pattern is required";
  const wrong = unreadable(pattern);
  return wrong === undefined ? undefined : `member regexMatch pattern is invalid: ${wrong}`;
};

type Wrong = readonly [field: string, saying: string];

const ofSelector = ({ selector: { exactMatch, regexMatch, labelMatch } }: Member): readonly Wrong[] => {
  const ways = [exactMatch, regexMatch, labelMatch].filter((way) => way !== undefined).length;
  if (ways === 0) return [["", "member selector must have one of exactMatch, regexMatch, or labelMatch"]];
  if (ways > 1) return [["", "cannot specify more than one selector type (exactMatch, regexMatch, labelMatch)"]];
  const name = exactMatch === undefined ? undefined : ofName(exactMatch.name);
  const pattern = regexMatch === undefined ? undefined : ofPattern(regexMatch.pattern);
  if (name !== undefined) return [[".exactMatch.name", name]];
  return pattern === undefined ? [] : [[".regexMatch.pattern", pattern]];
};

const ofMember = (member: Member, at: number): readonly string[] => {
  const place = `spec.members[${at}]`;
  const type = types.has(member.type) ? [] : [`${place}.type: unknown member type ${member.type}`];
  return [...type, ...ofSelector(member).map(([field, saying]) => `${place}.selector${field}: ${saying}`)];
};

/** Returns why the spec is refused; "" if it may be stored. */
export const hyperNodeSaying = (spec: unknown): string => {
  const parsed = schema.safeParse(withoutNulls(spec ?? {}), reportingInput);
  if (!parsed.success) return explain(parsed.error);
  const { members } = parsed.data;
  if (members.length === 0) return "member must have at least one member";
  return members.flatMap(ofMember).join("; ");
};
