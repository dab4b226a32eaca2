/** Admission of pods for Volcano's scheduler: the annotations that say how many of them may be disrupted at once. */
import * as z from "zod";
import type { AdmittedObject } from "../../kube/admission.ts";
import { keys } from "../schema/resource.ts";

const shape = z.looseObject({
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
  const parsed = shape.safeParse(object);
  if (!parsed.success || !schedulers.includes(parsed.data.spec?.schedulerName ?? "")) return "";
  const { annotations = {} } = parsed.data.metadata;
  const given = budgets.filter((key) => annotations[key] !== undefined);
  const wrong = given.map((key) => budgetSaying(key, annotations[key] ?? "")).find((saying) => saying !== undefined);
  if (wrong !== undefined) return wrong;
  return given.length > 1 ? `not allow configure multiple annotations <[${budgets.join(" ")}]> at same time` : "";
};
