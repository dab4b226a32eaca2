/** The advice for waits that time alone does not end: it follows the cause in the text, whatever state the object is in. */
import { oneLine } from "../core/text.ts";

const lasting: readonly (readonly [RegExp, string])[] = [
  [/would not fit the empty cluster/, "ask for less, or add nodes that have room for it"],
  [/\bqueue \S+ is not found/, "create the queue, or create the object again with a queue that exists"],
  [/\bqueue \S+ is Clos(?:ed|ing)/, "open the queue, or create the object again with an open one"],
  [/\bcan (?:not submit job to root|only submit job to leaf) queue\b/, "create the object again with a leaf queue"],
  [/\bqueue \S+ has \S+ \S+ in all, and \S+ are needed/, "ask for less, or raise what the queue may hold"],
  [
    /\bfailed quota: \S+: must specify\b/,
    "state the resources that the quota names in each container and create the object again, or let a LimitRange of the namespace state them",
  ],
  [/\bexceeded quota\b/, "ask for less, or make room in the quota; Rekindle keeps trying, and this costs no retry"],
  [
    /\b(?:maximum|minimum) \S+ usage per (?:Container|Pod|PersistentVolumeClaim) is\b|\bmax limit to request ratio per (?:Container|Pod) is\b/,
    "ask for what the LimitRange of the namespace allows, and create the object again",
  ],
  [/\bto be corrected\b|\bdoesn't have head task\b/, "correct what the message names"],
  [/\bpvc \S+ is not found\b/, "create the claim, or name one that exists"],
  [/\S to exist\b/, "create it, or name one that exists"],
  [
    /\bexists and belongs to another owner\b/,
    "delete what the message names, or create the object again with another name",
  ],
  [
    /\bdenied (?:the )?request\b|\bunable to validate against any security context constraint\b/,
    "change what the policy refuses, or ask whoever keeps the policy; Rekindle keeps trying",
  ],
  [/ is invalid: /, "correct the field that the message names, and create the object again"],
  [/\bUser "[^"]{1,253}" cannot \w{1,20} resource\b/, "give Rekindle the right that the message names"],
  [/\bviolates PodSecurity\b/, "change the pod as the message says, and create the object again"],
  [/\bserviceaccount "\S+ not found/, "create the service account, or name one that exists"],
  [/\bno PriorityClass with name \S+ was found\b/, "create the priority class, or name one that exists"],
  [/\bRuntimeClass "[^"]{1,253}" not found\b/, "create the RuntimeClass, or name one that exists"],
  [
    / on which task \S+ depends, to be there: its pods have failed/,
    "see the log of its failed pods; delete the object and create it again, with a policy for PodFailed if they should be tried again",
  ],
];

/** Characters of a text that are searched: a server's own words come first, and text of a user may follow at any length. */
const longestLook = 4_096;

/** The words of a job that has failed: the retries that it has spent, and those that it had. */
const retries = /\b(\d{1,9}) of (\d{1,9}) retries used\b/;

const spentAdvice =
  "fix the cause, delete it and create it again; spec.maxRetry allows more retries, and with the annotation rekindle.dev/resumes: free resuming it spends none";

/** Returns what a user must do before the wait can end; undefined where it may end by itself. */
export const lastingAdvice = (cause: string): string | undefined => {
  const text = cause.slice(0, longestLook);
  const [, spent, had] = retries.exec(text) ?? [];
  if (spent !== undefined && spent === had) return spentAdvice;
  return lasting.find(([words]) => words.test(text))?.[1];
};

/** True of a text with the message, of which either may be cut. */
const says = (text: string, message: string): boolean => oneLine(text).includes(oneLine(message).slice(0, 80));

/** Returns what an object waits for, with the message of its status where that says more. */
export const causeText = (waitsFor: string, message: string | undefined): string =>
  message === undefined || says(waitsFor, message) ? waitsFor : `${waitsFor} (${message})`;
