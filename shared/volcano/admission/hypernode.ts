/** Admission of a HyperNode: each member has one selector, and a valid one. As upstream's rules. */
import * as z from "zod";
import { explain, telling } from "../../kube/schema.ts";
import { goList, qualifiedNameErrors, withoutNulls } from "../schema/fields.ts";

const selector = z.looseObject({
  exactMatch: z.looseObject({ name: z.string().default("") }).optional(),
  regexMatch: z.looseObject({ pattern: z.string().default("") }).optional(),
  labelMatch: z.looseObject({}).optional(),
});

const schema = z.looseObject({
  members: z.array(z.looseObject({ type: z.string().default(""), selector: selector.default({}) })).default([]),
});

type Member = z.infer<typeof schema>["members"][number];

const types: ReadonlySet<string> = new Set(["Node", "HyperNode"]);

/** Syntax that Go's expressions do not have: lookahead, lookbehind and backreferences. */
const foreign = /(?<!\\)(?:\\\\)*(\(\?<?[=!]|\\[1-9])/;

/** Translates Go's syntax of named groups, flags and character classes for JavaScript. */
const translated = (pattern: string): string =>
  pattern
    .replaceAll("(?P<", "(?<")
    .replaceAll(/\(\?[imsU-]+\)/g, "")
    .replaceAll(/\(\?[imsU-]+:/g, "(?:")
    .replaceAll(/\[:\^?[a-z]+:\]/g, "a");

/** Returns why a pattern is no valid expression; undefined if it is valid. The expression is never matched. */
const unreadable = (pattern: string): string | undefined => {
  const [, part] = foreign.exec(pattern) ?? [];
  if (part !== undefined) return `invalid or unsupported Perl syntax: \`${part}\``;
  try {
    new RegExp(translated(pattern));
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
};

const ofName = (name: string): string | undefined => {
  if (name === "") return "member exactMatch name is required";
  const wrong = qualifiedNameErrors(name);
  return wrong.length === 0 ? undefined : `member exactMatch validate failed ${goList(wrong)}`;
};

const ofPattern = (pattern: string): string | undefined => {
  if (pattern === "") return "member regexMatch pattern is required";
  const wrong = unreadable(pattern);
  return wrong === undefined ? undefined : `member regexMatch pattern is invalid: ${wrong}`;
};

type Wrong = readonly [field: string, saying: string];

const ofSelector = ({ selector: { exactMatch, regexMatch, labelMatch } }: Member): readonly Wrong[] => {
  const ways = [exactMatch, regexMatch, labelMatch].filter((way) => way !== undefined).length;
  if (ways === 0) return [["", "member selector must have one of exactMatch, regexMatch, or labelMatch"]];
  if (ways > 1) return [["", "cannot specify more than one selector type (exactMatch, regexMatch, labelMatch)"]];
  const name = exactMatch === undefined ? undefined : ofName(exactMatch.name);
  const pattern = regexMatch === undefined ? undefined : ofPattern(regexMatch.pattern);
  if (name !== undefined) return [[".exactMatch.name", name]];
  return pattern === undefined ? [] : [[".regexMatch.pattern", pattern]];
};

const ofMember = (member: Member, at: number): readonly string[] => {
  const place = `spec.members[${at}]`;
  const type = types.has(member.type) ? [] : [`${place}.type: unknown member type ${member.type}`];
  return [...type, ...ofSelector(member).map(([field, saying]) => `${place}.selector${field}: ${saying}`)];
};

/** Returns why the spec is refused; "" if it may be stored. */
export const hyperNodeSaying = (spec: unknown): string => {
  const parsed = schema.safeParse(withoutNulls(spec ?? {}), telling);
  if (!parsed.success) return explain(parsed.error);
  const { members } = parsed.data;
  if (members.length === 0) return "member must have at least one member";
  return members.flatMap(ofMember).join("; ");
};
