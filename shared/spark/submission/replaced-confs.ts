/**
 * Confs of the user's that the submission replaces or drops: which, by what, and what to write instead. They follow
 * from the confs that the driver gets, so that none is dropped in silence.
 */
import { startOf } from "../../core/text.ts";
import type { Conf } from "../configuration/conf.ts";
import { sourceOf } from "./arguments/argv.ts";

type Subject = Parameters<typeof sourceOf>[0];

const longest = 120;

const quoted = (text: string): string => JSON.stringify(startOf(text, longest));

/** A list as Spark's client writes it. */
const listed = (text: string): string =>
  text
    .split(",")
    .map((part) => part.trim())
    .join(",");

/** A list that got further entries still has the user's. */
const isKept = (value: string, final: string | undefined): boolean =>
  final !== undefined && (final === value || `${listed(final)},`.startsWith(`${listed(value)},`));

/** One sentence for each conf of spec.sparkConf whose value the driver does not get. `set`: confs that Rekindle honours otherwise. */
export const replacedConfs = (subject: Subject, final: Conf, set: ReadonlySet<string>): readonly string[] =>
  Object.entries(subject.spec.sparkConf ?? {}).flatMap(([key, value]) => {
    const given = final.get(key);
    if (set.has(key) || isKept(value, given)) return [];
    const path = `spec.sparkConf[${JSON.stringify(key)}]`;
    const { by, instead } = sourceOf(subject, key);
    if (given === undefined)
      return [
        `${path} has no effect: ${key.startsWith("spark.") ? "the submission removes it" : "Spark reads only keys that begin with spark."}; remove it`,
      ];
    return [`${path} has no effect: ${by} sets it to ${quoted(given)}; ${instead}`];
  });
