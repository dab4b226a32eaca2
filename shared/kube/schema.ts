/**
 * Schemas of specs and records: errors described in one message for people, with the path of the field and what to
 * change; and the instant, epoch ms.
 */
import * as z from "zod";
import { isInstant } from "../core/time.ts";

type Issue = z.core.$ZodIssue;

/** Options of `safeParse` for errors that `explain` describes: with them, an issue carries its value. */
export const reportingInput = { reportInput: true } as const;

const pathOf = (path: readonly PropertyKey[], root: string): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    const name = String(part);
    return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) ? `${text}.${name}` : `${text}[${JSON.stringify(name)}]`;
  }, root);

const article = (noun: string): string => {
  if (noun === "undefined" || noun === "null") return noun;
  return /^[aeio]/.test(noun) ? `an ${noun}` : `a ${noun}`;
};

const nouns: Readonly<Record<string, string>> = { record: "object", int: "whole number", nan: "number" };

const noun = (name: string): string => article(nouns[name] ?? name);

/** Returns the received type, which zod keeps only in its message. */
const receivedIn = (message: string): string => /received (\w+)/.exec(message)?.[1] ?? "";

const typed = (issue: Issue & { code: "invalid_type" }): string => {
  const received = receivedIn(issue.message);
  if (received === "undefined") return `is missing: add it (${noun(issue.expected)})`;
  const quoted = issue.expected === "string" && (received === "number" || received === "boolean");
  const fraction = issue.expected === "int" && typeof issue.input === "number";
  return `must be ${noun(issue.expected)}, not ${fraction ? issue.input : noun(received)}${quoted ? ": put it in quotes" : ""}`;
};

const sayingOf = (issue: Issue): string => {
  switch (issue.code) {
    case "invalid_type":
      return typed(issue);
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "invalid_format":
      return `must hold a name of lower case letters, digits and "-"`;
    case "invalid_union":
      return "must be a number or a text";
    default:
      return `is not right: ${issue.message}`;
  }
};

/** A user corrects them all at once; a message stays bounded. */
const shown = 12;

/** Returns one message for all errors below `root`: the first twelve, and the number of the others. */
export const explain = (error: { readonly issues: readonly Issue[] }, root = "spec"): string => {
  const problems = error.issues.slice(0, shown).map((issue) => `${pathOf(issue.path, root)} ${sayingOf(issue)}`);
  const more = error.issues.length - shown;
  return `${problems.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
};

export const instant = z.number().refine(isInstant, "is not a time");
