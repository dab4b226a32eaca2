/** Mutants of steps of applications on the cache of a host; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const monitor = "shared/spark/application/driver/monitor.ts";

export const watchedPodMutants: readonly Mutant[] = [
  {
    name: "watched-pods-of-any-run",
    promise: "pods of earlier attempts, and time limits that have passed, are decided on live reads",
    file: monitor,
    find: 'found.strays.length === 0 && !isOwnRun(memory) && late?.is !== "late"',
    replace: "!isOwnRun(memory)",
    tests: ["test/unit/spark/application/driver/watched.test.ts"],
  },
  {
    name: "watched-pods-while-some-may-return",
    promise: "while missing pods may return, no plan on watched pods is carried out",
    file: monitor,
    find: "const watched = view.returning === undefined ? { staleSafe: true as const } : {};",
    replace: "const watched = view.now > 0 ? { staleSafe: true as const } : {};",
    tests: ["test/unit/spark/application/driver/watched.test.ts"],
  },
  {
    name: "watched-object-for-any-plan",
    promise:
      "a plan on a new object as the watch has shown it is decided again on live reads, unless it is right there",
    file: "shared/engine/reads/reader.ts",
    find: "(operator.watchful === true || cachedAt !== undefined)",
    replace: "(operator.watchful === true || cachedAt === undefined)",
    tests: ["test/unit/engine/reads/watched-new.test.ts"],
  },
  {
    name: "second-list-of-a-watch-behind",
    promise: "a watch that is behind what a record rests on does not confirm that an executor is gone",
    file: "shared/deployments/host/cache.ts",
    find: 'const needsFirm = (query.do === "list" ? query.again : query.known) === "firm";',
    replace: 'const needsFirm = query.do === "get" && query.known === "firm";',
    tests: ["test/unit/deployments/host/cache.test.ts"],
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
