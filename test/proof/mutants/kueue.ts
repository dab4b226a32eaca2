/** Mutants of what Kueue is promised: each is seen by the sweep's scenario, or by the tests named. */
import type { Mutant } from "./mutants.ts";

const host = "test/unit/host/tools/kueue.test.ts";

const quota = "test/unit/spark/executors/queue-quota.test.ts";

const demand = "test/unit/spark/application/executors/demand.test.ts";

const growth = "test/unit/spark/executors/growth.test.ts";

const hostGrowth = "test/unit/host/tools/kueue-growth.test.ts";

const jobs = "test/unit/host/tools/kueue-jobs.test.ts";

export const kueueMutants: readonly Mutant[] = [
  {
    name: "kueue-ends-at-a-refusal",
    promise: "with Kueue's queue label no status shows SUBMISSION_FAILED while a retry is left",
    file: "shared/spark/application/state/status.ts",
    find: "state.retryAt !== undefined && localQueueOf(object) !== undefined",
    replace: "state.retryAt === undefined && localQueueOf(object) !== undefined",
    scenarios: ["kueued"],
    fault: "crash-after",
  },
  {
    name: "kueue-clamps-nothing",
    promise: "an application never has more executors than Kueue has admitted",
    file: "shared/spark/application/executors/lookup.ts",
    find: "Math.min(wantedIn(context, demand), admittedIn(context)?.executors ?? Number.POSITIVE_INFINITY)",
    replace: "Math.max(wantedIn(context, demand), admittedIn(context)?.executors ?? 0)",
    tests: [demand],
  },
  {
    name: "kueue-growths-pile-up",
    promise: "at most one growth waits",
    file: "shared/spark/executors/growth.ts",
    find: "const [first, ...others] = waitingIn(need);",
    replace: "const [first, ...others] = waitingIn(need).filter(() => false);",
    tests: [growth],
  },
  {
    name: "kueue-grants-after-eviction",
    promise: "a growth that Kueue has evicted grants nothing, although it is still marked as admitted",
    file: "shared/spark/executors/growth.ts",
    find: 'if (isTrue(workload, "Evicted") || !isActive(workload)) return',
    replace: 'if (isTrue(workload, "Requeued") || !isActive(workload)) return',
    tests: [growth],
  },
  {
    name: "kueue-releases-quota-in-use",
    promise: "quota of an evicted growth is given back only when no executor is left that uses it",
    file: "shared/spark/executors/growth.ts",
    find: "const isDrained = occupied <= granted;",
    replace: "const isDrained = occupied >= granted;",
    tests: [growth],
  },
  {
    name: "kueue-shrinks-base",
    promise: "the base keeps its executors, whatever becomes of growths",
    file: "shared/spark/application/executors/lookup.ts",
    find: "executors: base.executors + grown }",
    replace: "executors: grown }",
    tests: [hostGrowth],
  },
  {
    name: "kueue-forgets-leavers",
    promise: "executors that leave use their quota until they end",
    file: "shared/spark/application/executors/allocation-result.ts",
    find: "Math.max(0, admitted.executors - leaving)",
    replace: "Math.max(leaving, admitted.executors)",
    tests: [demand],
  },
  {
    name: "kueue-overlooks-confs",
    promise: "dynamic allocation by a conf, in any spelling that Spark reads, is dynamic allocation",
    file: "shared/spark/schema/rules.ts",
    find: '.trim().toLowerCase() === "true"',
    replace: ' === "true"',
    tests: [quota],
  },
  {
    name: "managed-by-unheeded",
    promise: "an object whose spec.managedBy names another controller is left alone",
    file: "shared/engine/reconcile/step.ts",
    find: "if (manager !== undefined) return await leaveTo(",
    replace: 'if (manager === "") return await leaveTo(',
    tests: [host],
  },
  {
    name: "kueue-runs-on-reserved-quota",
    promise: "a job has no pods while admission checks of its Workload are open",
    file: "shared/volcano/kueue/workload.ts",
    find: 'isActive(workload) && isTrue(workload, "Admitted")',
    replace: 'isActive(workload) && isTrue(workload, "QuotaReserved")',
    tests: [jobs],
  },
  {
    name: "kueue-gives-quota-back-early",
    promise: "quota is given back only when no pod is left that uses it",
    file: "shared/volcano/job/quota.ts",
    find: "const isDrained = ({ members }: JobContext): boolean => members.every(hasFinished);",
    replace:
      "const isDrained = ({ members }: JobContext): boolean => members.length >= 0 || members.every(hasFinished);",
    scenarios: ["job-kueued"],
    fault: "crash-after",
  },
  {
    name: "kueue-evicts-nobody",
    promise: "an eviction ends the pods of a job",
    file: "shared/volcano/job/quota.ts",
    find: 'if (quota === undefined || quota.standing.is === "admitted" || !hasStarted(context)) return undefined;',
    replace: 'if (quota === undefined || quota.standing.is !== "missing" || !hasStarted(context)) return undefined;',
    scenarios: ["job-kueued"],
    fault: "crash-after",
  },
  {
    name: "kueue-never-finishes",
    promise: "the Workload of an ended job is finished",
    file: "shared/volcano/job/quota.ts",
    find: 'return isTrue(workload, "Finished") ? [] : ended(context, workload);',
    replace: 'return isTrue(workload, "QuotaReserved") ? [] : ended(context, workload);',
    scenarios: ["job-kueued"],
    fault: "crash-after",
  },
  {
    name: "kueue-spends-retries",
    promise: "an eviction by Kueue spends no retry",
    file: "shared/volcano/job/apply-action.ts",
    find: "because?.unadmitted === true || (annotationPolicies",
    replace: "because?.unadmitted === false || (annotationPolicies",
    tests: [jobs],
  },
  {
    name: "kueue-keeps-reclaimed",
    promise: "a Job that is queued anew after an eviction has given back no quota",
    file: "shared/kube/kueue.ts",
    find: "const nothing = { admission: null, reclaimablePods: null };",
    replace: "const nothing = { admission: null };",
    scenarios: ["job-kueued-reclaimed"],
    fault: "crash-after",
  },
  {
    name: "kueue-reclaims-what-runs-again",
    promise: "no quota is given back of pods that a policy may create again",
    file: "shared/volcano/job/reclaimable-pods.ts",
    find: 'memory.phase !== "Running" || isRenewed(context)',
    replace: 'memory.phase !== "Running"',
    tests: ["test/unit/volcano/job/reclaimable-pods.test.ts"],
  },
  {
    name: "kueue-runs-without-quota",
    promise: "pods whose quota was given back are not created again under the same admission",
    file: "shared/volcano/job/quota.ts",
    find: 'return why === undefined ? standing : { is: "outdated", why };',
    replace: 'return why === "" ? { is: "outdated", why } : standing;',
    tests: [jobs],
  },
];
