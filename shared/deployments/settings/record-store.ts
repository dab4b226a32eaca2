/** The setting of the record store: `kubernetes`, or `dynamodb://TABLE?region=eu-west-1&keepDays=90`. */
import * as z from "zod";

export type Place =
  | { readonly in: "kubernetes" }
  /** `keepMs`: the retention of a record at rest, 0 for ever; absent: the table adapter's default. */
  | {
      readonly in: "dynamodb";
      readonly table: string;
      readonly region?: string | undefined;
      readonly keepMs?: number | undefined;
    };

const dayMs = 86_400_000;

const options = z.strictObject({
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, { error: "a region is needed, such as eu-west-1" })
    .optional(),
  keepDays: z
    .string()
    .regex(/^\d{1,4}$/, { error: "keepDays needs a whole number up to 9999, 0 for ever" })
    .transform((text) => Number(text) * dayMs)
    .optional(),
});

const form = /^dynamodb:\/\/([A-Za-z0-9_.-]{3,255})(?:\?(.*))?$/;

export const place = z.string().transform((value, context): Place => {
  if (value === "kubernetes") return { in: "kubernetes" };
  const [, table, query = ""] = form.exec(value) ?? [];
  if (table === undefined) {
    context.addIssue("write kubernetes, or dynamodb://TABLE");
    return z.NEVER;
  }
  const { data, error } = options.safeParse(Object.fromEntries(new URLSearchParams(query)));
  if (data === undefined) {
    context.addIssue(`${error?.issues[0]?.message ?? ""}: dynamodb://TABLE takes region and keepDays`);
    return z.NEVER;
  }
  return { in: "dynamodb", table, region: data.region, keepMs: data.keepDays };
});
