/**
 * Confs of the user's that a submission replaces or drops: which, by what, and what to write instead. They follow from
 * the confs that the driver gets, so that none is dropped in silence.
 */
import { startOf } from "../../core/text.ts";
import { isSecretName } from "../../kube/secret-mask.ts";
import type { Conf } from "../configuration/conf.ts";

/** The source of a conf's value other than the user's sparkConf. */
export type Origin = {
  /** The source in words, as the subject of "sets it". */
  readonly by: string;
  /** The advice to a user whose conf it replaces. */
  readonly instead: string;
};

/** Confs of one source. */
export type ConfSource<Pair extends readonly [string, unknown]> = Origin & { readonly pairs: readonly Pair[] };

/** Confs of fields of the object, which win over sparkConf. */
export const fromField = <Pair extends readonly [string, unknown]>(
  path: string,
  pairs: readonly Pair[] = [],
): ConfSource<Pair> => ({
  by: `a field of ${path}`,
  instead: `write the value in ${path}, or remove the field there`,
  pairs,
});

/** Labels by which Rekindle finds pods. */
export const fromLabels = <Pair extends readonly [string, unknown]>(pairs: readonly Pair[]): ConfSource<Pair> => ({
  by: "Rekindle, which finds its pods by it,",
  instead: "use another label",
  pairs,
});

/** Confs that no field sets. */
export const fromRekindle = <Pair extends readonly [string, unknown]>(pairs: readonly Pair[]): ConfSource<Pair> => ({
  by: "Rekindle",
  instead: "remove the conf",
  pairs,
});

/** The origin of a key among sources in their order: of two with one key the later wins. */
export const originIn = (sources: readonly ConfSource<readonly [string, unknown]>[], key: string): Origin =>
  sources.findLast(({ pairs }) => pairs.some(([name]) => name === key)) ?? fromRekindle([]);

const longest = 120;

/** The value of a field as a note shows it: events and pages are read by many, so none of a secret's. */
export const quoted = (path: string, value: unknown): string => {
  if (isSecretName(path)) return "another value";
  return typeof value === "string" ? JSON.stringify(startOf(value, longest)) : startOf(JSON.stringify(value), longest);
};

/** A list as Spark's client writes it. */
const listed = (text: string): string =>
  text
    .split(",")
    .map((part) => part.trim())
    .join(",");

/** A list that got further entries still has the user's. */
const isKept = (value: string, final: string | undefined): boolean =>
  final !== undefined && (final === value || `${listed(final)},`.startsWith(`${listed(value)},`));

type Given = {
  /** spec.sparkConf. */
  readonly confs: Readonly<Record<string, string>> | undefined;
  /** The confs that the driver gets. */
  readonly final: Conf;
  readonly originOf: (key: string) => Origin;
  /** Confs that Rekindle honours otherwise. */
  readonly honoured?: ReadonlySet<string>;
};

/** One sentence for each conf of spec.sparkConf whose value the driver does not get. */
export const replacedConfs = ({ confs = {}, final, originOf, honoured }: Given): readonly string[] =>
  Object.entries(confs).flatMap(([key, value]) => {
    const given = final.get(key);
    if (honoured?.has(key) === true || isKept(value, given)) return [];
    const path = `spec.sparkConf[${JSON.stringify(key)}]`;
    const { by, instead } = originOf(key);
    if (given === undefined)
      return [
        `${path} has no effect: ${key.startsWith("spark.") ? "the submission removes it" : "Spark reads only keys that begin with spark."}; remove it`,
      ];
    return [`${path} has no effect: ${by} sets it to ${quoted(key, given)}; ${instead}`];
  });
