/** Mutants of pods that the cluster refuses, and of pods that are gone right after their creation. */
import type { Mutant } from "./mutants.ts";

const tests = ["test/unit/host/denied-pods.test.ts"] as const;

export const deniedPodMutants: readonly Mutant[] = [
  {
    name: "refused-pods-hold-up-their-job",
    promise: "status, policies and commands of a Job wait for no pod that a quota or a policy refuses",
    file: "shared/volcano/job/apply-action.ts",
    find: "limited: true,",
    replace: "",
    tests,
  },
  {
    name: "refused-pods-without-end",
    promise: "pods that the cluster refuses are tried rarely, and a few at a time",
    file: "shared/volcano/job/denied-pods.ts",
    find: "return denied.until > view.now ? 0 : mostInTry;",
    replace: "return Number.POSITIVE_INFINITY;",
    tests,
  },
  {
    name: "refused-pods-for-good",
    promise: "pods that the cluster refuses are tried again",
    file: "shared/volcano/job/denied-pods.ts",
    find: "return denied.until > view.now ? 0 : mostInTry;",
    replace: "return 0;",
    tests,
  },
  {
    name: "created-pods-unseen",
    promise: "a pod whose creation the server has answered was there: its eviction is an event",
    file: "shared/volcano/job/created-pods.ts",
    find: "if (created.length === 0 || !answersEvictions(spec)) return memory;",
    replace: "if (created.length >= 0) return memory;",
    tests,
  },
];
