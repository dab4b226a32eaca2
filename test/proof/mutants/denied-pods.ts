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
    name: "created-pods-unseen-beside-a-patch",
    promise: "the step that creates pods remembers them also where it changes their group",
    file: "shared/volcano/job/created-pods.ts",
    find: "creates.length > 0 && (view.done ?? []).length < mostInStep && answersEvictions(spec)",
    replace:
      "creates.length > 0 && (view.done ?? []).length < mostInStep && answersEvictions(spec) && (view.memory?.seen === undefined || Object.keys(view.memory.seen).length === 0)",
    scenarios: ["job-evicted-at-growth"],
    fault: "crash-before",
  },
  {
    name: "created-pods-unseen",
    promise: "a pod whose creation the server has answered was there: its eviction is an event",
    file: "shared/volcano/job/created-pods.ts",
    find: "if (created.length === 0 || !answersEvictions(spec)) return memory;",
    replace: "if (created.length >= 0) return memory;",
    tests,
  },
  {
    name: "refused-jobs-hold-up-history",
    promise: "a quota that refuses the next job of a CronJob keeps no old job",
    file: "shared/volcano/cron/decide.ts",
    find: "[history.removals, eventsOfEndedJobs(object, made), ...(ahead.stages ?? [])]",
    replace: "[...(ahead.stages ?? []), history.removals, eventsOfEndedJobs(object, made)]",
    tests,
  },
  {
    name: "refused-jobs-freeze-status",
    promise: "the status of a CronJob says what runs although a quota refuses its next job",
    file: "shared/volcano/cron/decide.ts",
    find: "heldUp: (_object, _message, planned) => planned,",
    replace: "",
    tests,
  },
  {
    name: "refused-jobs-freeze-flow",
    promise: "the status of a JobFlow says which jobs have completed although a quota refuses its next job",
    file: "shared/volcano/flow/decide.ts",
    find: "heldUp: (_object, _message, planned) => planned,",
    replace: "",
    tests,
  },
  {
    name: "refused-runs-hold-up-history",
    promise: "a quota that refuses the next run of a schedule keeps no old run",
    file: "shared/spark/scheduled/decide.ts",
    find: `      history.removals,
      warning(context.object, status),
      ...ahead.stages,`,
    replace: `      ...ahead.stages,
      history.removals,
      warning(context.object, status),`,
    tests: ["test/unit/spark/scheduled/policies.test.ts"],
  },
  {
    name: "ending-namespace-warned-of",
    promise: "a namespace that terminates is no trouble to warn of: its objects end with it",
    file: "shared/engine/trouble.ts",
    find: "if (isNamespaceEnding(cause))",
    replace: "if (isNamespaceEnding(cause) && cause.status === 0)",
    tests: ["test/unit/host/ending-namespaces.test.ts"],
  },
];
