/** Reads recorded requests as the objects that they made. */
import { readFileSync } from "node:fs";
import * as z from "zod";
import type { Input } from "./call.ts";
import { inputSchema } from "./call.ts";
import type { Difference, Json } from "./compare.ts";
import { normal } from "./normal.ts";

const requests = z.array(z.looseObject({ method: z.string(), path: z.string(), body: z.looseObject({}).nullish() }));

export const inputIn = (file: string): Input => inputSchema.parse(JSON.parse(readFileSync(file, "utf8")));

/** Lists the bodies of recorded requests that write; none if the recording is a failure. */
export const madeIn = (file: string): readonly Json[] => {
  const parsed = requests.safeParse(JSON.parse(readFileSync(file, "utf8")));
  const all = parsed.success ? parsed.data : [];
  return all.flatMap(({ body, method }) => (body && ["POST", "PUT", "PATCH"].includes(method) ? [normal(body)] : []));
};

/** Returns the message of the exception that ended the recorded program. */
export const saidBy = ({ errors }: Input): string => {
  const last = errors.findLast((line) => line.startsWith("Exception")) ?? errors.at(-1) ?? "";
  return last.replace(/^Exception in thread "main" /, "").replace(/^[\w.$]+: (requirement failed: )?/, "");
};

/** True if two refusals have the same reason: they name the same conf, or share two words (or the only one). */
export const meansTheSame = (refused: string, theirs: string): boolean => {
  const words = new Set(theirs.toLowerCase().match(/[a-z.-]{4,}/g) ?? []);
  const shared = [...words].filter((word) => refused.toLowerCase().includes(word.replace(/[.-]+$/, "")));
  return shared.some((word) => /\w\.\w+\.\w/.test(word)) || shared.length >= Math.min(2, words.size);
};

/**
 * Compares our refusal with the recorded outcome: equal if it was refused for the same reason. Our message also says
 * what to change.
 */
export const refusedAlike = (input: Input, refused: string): readonly Difference[] => {
  if (input.exitCode === 0) return [{ path: "refused", ours: refused, theirs: "accepted" }];
  const theirs = saidBy(input);
  return meansTheSame(refused, theirs) ? [] : [{ path: "reason", ours: refused, theirs }];
};
