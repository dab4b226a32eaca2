/** The forms that settings are written in, each with what to write when it is not. */
import * as z from "zod";

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const inMs = (text: string): number => {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return Math.round(Number(amount) * (units[unit ?? ""] ?? Number.NaN));
};

export const duration = z
  .union([z.int().min(0).transform(String), z.string()], { error: "write a duration such as 30s or 5m" })
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : inMs(text)))
  .refine((ms) => Number.isFinite(ms), { error: "write a duration such as 30s or 5m" });

export const yesOrNo = z.union(
  [z.boolean(), z.stringbool({ truthy: ["true", "yes", "1"], falsy: ["false", "no", "0"] })],
  { error: "write true or false" },
);

export const list = z.union(
  [z.array(z.string().min(1)), z.string().transform((text) => text.split(",").filter(Boolean))],
  { error: "write names separated by commas, or a list" },
);

export const text = z.union([z.string(), z.number().transform(String)], { error: "write a text" });
export const required = text.pipe(z.string().min(1, { error: "must not be empty" }));

export const count = (max: number, min = 1) => {
  const error = `write a whole number from ${min} to ${max}`;
  return z
    .union([z.number(), z.string().regex(/^\d+$/, { error }).transform(Number)], { error })
    .pipe(z.int({ error }).min(min, { error }).max(max, { error }));
};

export const choice = <const Options extends readonly [string, ...string[]]>(...options: Options) =>
  z.enum(options, { error: `write ${options.join(" or ")}` });

const parsed = (value: unknown, context: z.RefinementCtx): unknown => {
  if (typeof value !== "string") return value;
  try {
    return value.trim() === "" ? undefined : JSON.parse(value);
  } catch {
    context.addIssue("write JSON");
    return z.NEVER;
  }
};

/** JSON text, or in a file what it would stand for. */
export const json = <Shape extends z.ZodType>(shape: Shape) => z.unknown().transform(parsed).pipe(shape);
