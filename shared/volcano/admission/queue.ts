/** Admission of a queue: upstream's defaults, and the rules of upstream's webhook, in its words. */

import * as z from "zod";
import { fieldsOf, same } from "../../core/json.ts";
import { type AdmittedObject, additions, type PatchOperation } from "../../kube/admission.ts";
import { type Quantity, quantityText } from "../../kube/quantity.ts";
import { explain, telling } from "../../kube/schema.ts";
import { hierarchyErrors, invalid, rooted, specGaps, together } from "../queue/defaults.ts";
import { withoutNulls } from "../schema/fields.ts";
import { type Amounts, amountsIn, childrenOf, deletionSaying, parentSaying, type Queue, treeSaying } from "./tree.ts";

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

const shape = z.looseObject({
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
  const parsed = shape.safeParse(withoutNulls(object), telling);
  if (!parsed.success) return { ok: false, message: explain(parsed.error, "queue") };
  const { metadata, spec = {}, status = {} } = parsed.data;
  const capability = amountsIn(spec.capability, "spec.capability");
  const deserved = amountsIn(spec.deserved, "spec.deserved");
  const guarantee = amountsIn(spec.guarantee?.resource, "spec.guarantee.resource");
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
    allocated: amountsIn(status.allocated, "status.allocated").amounts,
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
  const own = together([...capacityErrors(queue), ...stateErrors(queue), ...hierarchyErrors(queue, all ?? [])]);
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
  const parsed = shape.safeParse(withoutNulls(object));
  if (!parsed.success) return object;
  const { annotations } = parsed.data.metadata;
  return {
    ...object,
    metadata: annotations === undefined ? metadata : { ...metadata, annotations: rooted(annotations) },
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
