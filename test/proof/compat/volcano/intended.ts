/** Intended differences of Volcano jobs, each with the place of the specification that says why. */
import type { Difference } from "../compare.ts";

type Rule = { readonly reason: string; readonly covers: (difference: Difference, file: string) => boolean };

const rules: readonly Rule[] = [
  {
    reason: "what ends a job is not swallowed by a restart on its way",
    covers: ({ path }, file) =>
      file.includes("states") && /^Restarting\/(AbortJob|TerminateJob|CompleteJob)\//.test(path),
  },
  {
    reason: "pod-level resources are judged by the API server, whose feature gate decides what they may be",
    covers: ({ path, theirs }, file) =>
      file.includes("validate-create") &&
      (path === "allowed" ? theirs === false : /^spec\.task\[\d+\]\.template\.spec\.resources\./.test(`${theirs}`)),
  },
  {
    reason: "bad numbers, amounts, flags and names are told by their field (issue 7, bad input)",
    covers: ({ path, ours }, file) =>
      file.includes("validate-create") &&
      path === "message" &&
      /^spec\.[\w.[\]]+ (must|holds|makes|is) /.test(`${ours}`),
  },
  {
    reason: "what happened while nobody was there is an event still",
    covers: ({ path }, file) => file.includes("restart-scenarios") && /^[ABC]\//.test(path),
  },
  {
    reason: "a pod that runs has not waited for too long",
    covers: ({ path }, file) => file.includes("restart-scenarios") && path.startsWith("D/"),
  },
  {
    reason: "a lost group is an event in every version of the job",
    covers: ({ path }, file) => file.includes("restart-scenarios") && path.startsWith("E1/"),
  },
  {
    reason: "what ends a job is not swallowed by a restart on its way",
    covers: ({ path }, file) => file.includes("restart-scenarios") && path.startsWith("F/"),
  },
  {
    reason: "the exit code of every container counts",
    covers: ({ path }, file) => file.includes("restart-scenarios") && path.startsWith("G/"),
  },
  {
    reason: "the script that waits for a master is in our own words",
    covers: ({ path, ours, theirs }) =>
      /\/initContainers\/\d+\/command\/2$/.test(path) && [ours, theirs].every((text) => `${text}`.includes("nc -z ")),
  },
];

export const volcanoReason = (file: string, difference: Difference): string | undefined =>
  rules.find((rule) => rule.covers(difference, file))?.reason;
