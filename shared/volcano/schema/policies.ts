/** Checks a list of policies by upstream's rules, in upstream's words. */

import { policyActions, policyEvents } from "./resource.ts";
import { goList, type Policy } from "./spec.ts";

const invalid = (path: string, value: string, what: string): string =>
  `${path}: Invalid value: ${JSON.stringify(value)}: ${what}`;

/** Returns the events that a policy names, each once, `event` after `events`. */
export const eventsOf = ({ events = [], event = "" }: Policy): readonly string[] => [
  ...new Set(event === "" ? events : [...events, event]),
];

const known = (words: readonly string[], word: string | undefined): boolean => words.includes(word ?? "");

type Seen = { readonly events: Set<string>; readonly codes: Set<number> };

const eventError = (policy: Policy, event: string, path: string, seen: Seen): string | undefined => {
  if (!known(policyEvents, event)) return invalid(path, event, "invalid policy event");
  if (!known(policyActions, policy.action)) return invalid(path, policy.action ?? "", "invalid policy action");
  if (seen.events.has(event)) return `duplicate event ${event}  across different policy`;
  seen.events.add(event);
  return undefined;
};

const codeError = (code: number, seen: Seen): string | undefined => {
  if (code === 0) return "0 is not a valid error code";
  if (seen.codes.has(code)) return `duplicate exitCode ${code}`;
  seen.codes.add(code);
  return undefined;
};

/** Returns the first error of a policy, given the policies before it. */
const errorOf = (policy: Policy, path: string, seen: Seen): string | undefined => {
  const events = eventsOf(policy);
  const { exitCode } = policy;
  if (events.length > 0 && exitCode !== undefined) return "must not specify event and exitCode simultaneously";
  if (exitCode !== undefined) return codeError(exitCode, seen);
  if (events.length === 0) return "either event and exitCode should be specified";
  for (const event of events) {
    const error = eventError(policy, event, path, seen);
    if (error !== undefined) return error;
  }
  return undefined;
};

/** Returns the first error of the list, and another one if a `*` stands beside other events. */
const errorsOf = (policies: readonly Policy[], path: string): readonly string[] => {
  const seen: Seen = { events: new Set(), codes: new Set() };
  const errors: string[] = [];
  for (const policy of policies) {
    const error = errorOf(policy, path, seen);
    if (error !== undefined) {
      errors.push(error);
      break;
    }
  }
  const alone = !seen.events.has("*") || seen.events.size === 1;
  return alone ? errors : [...errors, "if there's * here, no other policy should be here"];
};

/** Returns one text for all errors; empty if there is none. `path`: the field that holds the list. */
export const policySaying = (policies: readonly Policy[], path: string): string => {
  const errors = errorsOf(policies, path);
  if (errors.length === 0) return "";
  const counted = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  const listed = errors.map((error) => `\t* ${error}\n`).join("");
  const valid = ` valid events are ${goList(policyEvents)}, valid actions are ${goList(policyActions)};`;
  return `${counted} occurred:\n${listed}\n${valid}`;
};
