/** Intended differences of Volcano jobs, each with the place of the specification that says why. */
import type { Difference } from "../compare.ts";

type Rule = { readonly reason: string; readonly covers: (difference: Difference, file: string) => boolean };

const rules: readonly Rule[] = [
  {
    reason: "what ends a job is not swallowed by a restart on its way (spec §3.5 F)",
    covers: ({ path }, file) =>
      file.includes("states") && /^Restarting\/(AbortJob|TerminateJob|CompleteJob)\//.test(path),
  },
  {
    reason:
      "pod-level resources are judged by the API server, whose feature gate decides what they may be (spec §1.15)",
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
    reason: "what happened while nobody was there is an event still (spec §3.5 A, B, C)",
    covers: ({ path }, file) => file.includes("restart-scenarios") && /^[ABC]\//.test(path),
  },
  {
    reason: "a pod that runs has not waited for too long (spec §3.5 D)",
    covers: ({ path }, file) => file.includes("restart-scenarios") && path.startsWith("D/"),
  },
  {
    reason: "a lost group is an event in every version of the job (spec §3.5 E)",
    covers: ({ path }, file) => file.includes("restart-scenarios") && path.startsWith("E1/"),
  },
  {
    reason: "what ends a job is not swallowed by a restart on its way (spec §3.5 F)",
    covers: ({ path }, file) => file.includes("restart-scenarios") && path.startsWith("F/"),
  },
  {
    reason: "the exit code of every container counts (spec §3.5 G)",
    covers: ({ path }, file) => file.includes("restart-scenarios") && path.startsWith("G/"),
  },
  {
    reason: "the script that waits for a master is in our own words (spec §1.12, pytorch)",
    covers: ({ path, ours, theirs }) =>
      /\/initContainers\/\d+\/command\/2$/.test(path) && [ours, theirs].every((text) => `${text}`.includes("nc -z ")),
  },
];

export const volcanoReason = (file: string, difference: Difference): string | undefined =>
  rules.find((rule) => rule.covers(difference, file))?.reason;
