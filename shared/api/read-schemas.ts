/** The schemas of the read API, for queries and answers; the OpenAPI document is generated from them. */
import * as z from "zod";
import { isLabelValue } from "../core/object.ts";
import { isNamespace } from "./events.ts";

/** Kinds of the read API; the first is the default of a query. */
export type ShownKinds = readonly [string, ...string[]];

const cursor = z.object({ n: z.number().int().min(0).max(10_000), c: z.string().max(4_096).optional() });

/** The start of a page: `n`, the index of the caller's namespace; `c`, the API server's continue token there. */
export type Cursor = z.infer<typeof cursor>;

export const tokenOf = (at: Cursor): string => Buffer.from(JSON.stringify(at)).toString("base64url");

const cursorOf = (token: string): Cursor | undefined => {
  try {
    return cursor.parse(JSON.parse(Buffer.from(token, "base64url").toString()));
  } catch {
    return undefined;
  }
};

const selector = z
  .string()
  .max(1_024)
  .refine((text) => text.split(",").every((term) => /^[\w./-]+(=|==|!=)[\w.-]*$/.test(term)), {
    error: "a label selector is needed",
  })
  .refine((text) => text.split(",").every((term) => isLabelValue(term.split("=").at(-1) ?? "")), {
    error: "a label selector is needed",
  });

/** Filters of a list. */
export const listQuery = (kinds: ShownKinds) =>
  z.strictObject({
    kind: z
      .enum(kinds)
      .optional()
      .meta({ description: `kind of the objects; ${kinds[0]} if absent` }),
    namespace: z.string().refine(isNamespace, { error: "a namespace is needed" }).optional(),
    state: z
      .string()
      .max(64)
      .optional()
      .meta({ description: "only objects in this state; the filter applies to each page" }),
    selector: selector.optional().meta({ description: "label selector, as a=b,c!=d" }),
    limit: z.coerce.number().int().min(1).max(500).default(100),
    continue: z.string().max(8_192).optional().meta({ description: "the token in the previous page" }),
  });

export type ListQuery = z.infer<ReturnType<typeof listQuery>>;

/** Returns where a page begins; undefined where the token is not valid. */
export const beginsAt = ({ continue: token }: ListQuery): Cursor | undefined =>
  token === undefined ? { n: 0 } : cursorOf(token);

const time = z.string().meta({ format: "date-time" });

const item = z.object({
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  createdAt: time.optional(),
  state: z.string(),
  attempts: z.number().int().optional(),
  message: z.string().optional(),
  ended: z.enum(["well", "badly"]).optional(),
});

export type Item = z.infer<typeof item>;

export const page = z.object({
  items: z.array(item),
  continue: z.string().optional().meta({ description: "token of the next page: send it with the same filters" }),
});

const executor = z.object({
  id: z.string(),
  pod: z.string(),
  node: z.string().optional(),
  phase: z.string(),
  createdAt: time.optional(),
  leavingAt: time.optional().meta({ description: "when its node goes away" }),
});

export const executors = z.object({ items: z.array(executor) });
export type Executors = z.infer<typeof executors>;

const loss = z.object({
  id: z.number().int(),
  uid: z.string(),
  pod: z.string().optional(),
  reason: z.string(),
  node: z.string().optional(),
  exitCode: z.number().int().optional(),
  why: z.string().optional(),
  at: time,
});

export const losses = z.object({
  lost: z.record(z.string(), z.number().int()).meta({ description: "the number of lost executors, by reason" }),
  items: z.array(loss).meta({ description: "the latest losses, the oldest first" }),
});

export const updates = z.object({
  waiting: z.number().int().meta({ description: "updates that are not acknowledged" }),
  since: time.optional(),
  tries: z.number().int().optional(),
  error: z.string().optional(),
  next: time.optional(),
});

export const detail = item.extend({
  waitsFor: z.string(),
  since: time.optional(),
  until: time.optional(),
  do: z.string().meta({ description: "what to do about it" }),
});

/** The answers to triggers. */
export const accepted = z.object({ accepted: z.literal(true) });
export const taken = z.object({
  accepted: z.number().int(),
  denied: z.number().int().optional(),
  passed: z.array(z.string()).meta({ description: "why something was passed over" }),
});
export const refusal = z.object({ error: z.string() });
