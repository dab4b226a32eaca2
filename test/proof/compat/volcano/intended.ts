/** Intended differences of Volcano jobs, each with the place of the specification that says why. */
import type { Difference } from "../compare.ts";

type Rule = { readonly reason: string; readonly covers: (difference: Difference, row: string) => boolean };

const rules: readonly Rule[] = [
  {
    reason: "what ends a job is not swallowed by a restart on its way",
    covers: ({ path }, row) =>
      row.includes("states") && /^Restarting\/(AbortJob|TerminateJob|CompleteJob)\//.test(path),
  },
  {
    reason: "pod-level resources are judged by the API server, whose feature gate decides what they may be",
    covers: ({ path, theirs }, row) =>
      row.includes("validate-create") &&
      (path === "allowed" ? theirs === false : /^spec\.task\[\d+\]\.template\.spec\.resources\./.test(`${theirs}`)),
  },
  {
    reason: "bad numbers, amounts, flags and names are told by their field (issue 7, bad input)",
    covers: ({ path, ours }, row) =>
      row.includes("validate-create") &&
      path === "message" &&
      /^spec\.[\w.[\]]+ (must|holds|makes|is) /.test(`${ours}`),
  },
  {
    reason:
      "a queue with pods may be deleted: the row was recorded with the flag enable-queue-allocated-pods-check, which is off by default",
    covers: ({ path, theirs }, row) =>
      row === "volcano/ut-queue-validate:16" &&
      (path === "allowed" ? theirs === false : /has allocated Pods/.test(`${theirs}`)),
  },
  {
    reason: "what happened while nobody was there is an event still",
    covers: ({ path }, row) => row.includes("restart-scenarios") && /^[ABC]\//.test(path),
  },
  {
    reason: "a pod that runs has not waited for too long",
    covers: ({ path }, row) => row.includes("restart-scenarios") && path.startsWith("D/"),
  },
  {
    reason: "a lost group is an event in every version of the job",
    covers: ({ path }, row) => row.includes("restart-scenarios") && path.startsWith("E1/"),
  },
  {
    reason: "what ends a job is not swallowed by a restart on its way",
    covers: ({ path }, row) => row.includes("restart-scenarios") && path.startsWith("F/"),
  },
  {
    reason: "the exit code of every container counts",
    covers: ({ path }, row) => row.includes("restart-scenarios") && path.startsWith("G/"),
  },
  {
    reason: "the script that waits for a master is in our own words",
    covers: ({ path, ours, theirs }) =>
      /\/initContainers\/\d+\/command\/2$/.test(path) && [ours, theirs].every((text) => `${text}`.includes("nc -z ")),
  },
];

export const volcanoReason = (row: string, difference: Difference): string | undefined =>
  rules.find((rule) => rule.covers(difference, row))?.reason;
