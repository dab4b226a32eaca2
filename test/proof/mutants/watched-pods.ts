/** Mutants of steps of applications on the cache of a host; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const monitor = "shared/spark/application/driver/monitor.ts";

export const watchedPodMutants: readonly Mutant[] = [
  {
    name: "watched-pods-of-any-run",
    promise: "time limits that have passed are decided on live reads",
    file: monitor,
    find: 'pod === undefined || pod !== driver || late?.is === "late" ? onLiveReads(plan) : plan;',
    replace: "pod === undefined || pod !== driver ? onLiveReads(plan) : plan;",
    tests: ["test/unit/spark/application/driver/watched.test.ts"],
  },
  {
    name: "watched-pods-while-some-may-return",
    promise: "while missing pods may return, no plan on watched pods is carried out",
    file: "shared/engine/reads/live.ts",
    find: "returning !== undefined || cleanup !== undefined;",
    replace: "returning === null || cleanup !== undefined;",
    tests: ["test/unit/engine/reads/enclosed.test.ts"],
  },
  {
    name: "watched-object-for-any-plan",
    promise:
      "a plan on a new object as the watch has shown it is decided again on live reads, unless it is right there",
    file: "shared/engine/reads/freshness.ts",
    find: "if (shown === undefined && cachedAt === undefined)",
    replace: "if (shown === undefined)",
    tests: ["test/unit/engine/reads/watched-new.test.ts"],
  },
  {
    name: "second-list-of-a-watch-behind",
    promise: "a watch that is behind what a record rests on does not confirm that an executor is gone",
    file: "shared/deployments/host/cache.ts",
    find: 'if (least === "current" && !isUpToDate',
    replace: 'if (least === "current" && query.do === "get" && !isUpToDate',
    tests: ["test/unit/deployments/host/cache.test.ts"],
  },
  {
    name: "deletions-by-the-watch",
    promise: "a pod that may run is deleted on live reads only",
    file: "shared/engine/reads/freshness.ts",
    find: "object.metadata.uid === uid && hasEnded(object)",
    replace: "object.metadata.uid === uid",
    tests: ["test/unit/engine/reads/freshness.test.ts"],
  },
  {
    name: "records-forgotten-by-the-watch",
    promise: "a record is deleted on live reads only",
    file: "shared/engine/reads/freshness.ts",
    find: '  next.do !== "forget" &&\n  stages',
    replace: "  stages",
    tests: ["test/unit/engine/reads/freshness.test.ts"],
  },
  {
    name: "leftovers-gone-by-the-watch",
    promise: "the next attempt follows only when live reads show nothing of the last one",
    file: "shared/spark/application/driver/cleanup.ts",
    find: "return onLiveReads(yield* clearing(context, then));",
    replace: "return yield* clearing(context, then);",
    tests: ["test/unit/spark/application/driver/watched.test.ts"],
  },
  {
    name: "second-look-at-a-pod-that-runs",
    promise: "only the end of a pod is taken from the watch when it is read again",
    file: "shared/engine/reads/freshness.ts",
    find: "found?.every(hasEnded) === true ? found : undefined;",
    replace: "found !== undefined ? found : undefined;",
    tests: ["test/unit/engine/reads/freshness.test.ts"],
  },
  {
    name: "applications-kept-whole",
    promise: "a process keeps an application whole only until it has a status",
    file: "shared/spark/application/watches.ts",
    find: "same(application.status ?? {}, {}) ? trimWith(application) : trim(application);",
    replace: "same(application, {}) ? trim(application) : trimWith(application);",
    tests: ["test/unit/spark/application/watches.test.ts"],
  },
];
