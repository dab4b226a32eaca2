/** Fields of a pod template of the user's whose values the pod does not have: which, and what to write instead. */
import { isRecord } from "../../core/json.ts";
import { amountOf } from "../../kube/quantity.ts";
import { quoted } from "./confs.ts";

/** The advice for fields whose paths match, after the path of the template. */
export type Advice = readonly (readonly [path: RegExp, instead: string])[];

type Lost = { readonly path: string; readonly made: unknown };

const nameOf = (value: unknown): unknown => (isRecord(value) ? value["name"] : undefined);

/** The counterpart of an item in a list: of the same name, else at the same place. */
const counterpart = (item: unknown, at: number, made: readonly unknown[]): unknown => {
  if (!isRecord(item)) return made.find((one) => one === item);
  const name = nameOf(item);
  return name === undefined ? made[at] : made.find((one) => nameOf(one) === name);
};

const isAlike = (wanted: unknown, made: unknown): boolean => {
  if (`${wanted}` === `${made}`) return true;
  const [one, other] = [wanted, made].map((value) => amountOf(`${value}`));
  return one !== undefined && one === other;
};

/** The leaves of `wanted` with another value in `made`. A list that got further items still has the user's. */
const lostIn = (wanted: unknown, made: unknown, path: string): readonly Lost[] => {
  if (wanted === null || wanted === undefined) return [];
  if (Array.isArray(wanted)) {
    const there = Array.isArray(made) ? made : [];
    return wanted.flatMap((item, at) => {
      const name = nameOf(item);
      const place = `${path}[${typeof name === "string" ? name : at}]`;
      return lostIn(item, counterpart(item, at, there), place);
    });
  }
  if (!isRecord(wanted)) return isAlike(wanted, made) ? [] : [{ path, made }];
  const there = isRecord(made) ? made : {};
  return Object.entries(wanted).flatMap(([key, value]) =>
    lostIn(value, there[key], /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`),
  );
};

/** One sentence for each field of the template at `path` whose value the made pod lacks. */
export const overwrittenFields = (
  { path, template, made }: { readonly path: string; readonly template: unknown; readonly made: unknown },
  advice: Advice,
): readonly string[] =>
  lostIn(template, made, path).map((lost) => {
    const instead = advice.find(([pattern]) => pattern.test(lost.path.slice(path.length)))?.[1] ?? "remove it";
    const has = lost.made === undefined ? "the pod does not have it" : `the pod has ${quoted(lost.path, lost.made)}`;
    return `${lost.path} has no effect: ${has}; ${instead}`;
  });
