/** Mutants of evictions for groups that lack room: each is seen by the tests named. */
import type { Mutant } from "./mutants.ts";

const eviction = "shared/volcano/gang/eviction";
const host = "test/unit/host/gang-eviction.test.ts";
const mixes = "test/unit/volcano/gang/eviction/round.test.ts";
const reserve = "test/unit/volcano/gang/reserve.test.ts";

export const evictionMutants: readonly Mutant[] = [
  {
    name: "eviction-before-its-nomination",
    promise: "no pod is evicted before the nomination is saved and its group is marked",
    file: `${eviction}/nominations.ts`,
    find: "const marked = losing.filter((one) => markOf(one) !== undefined);",
    replace: "const marked = losing;",
    tests: ["test/unit/volcano/gang/eviction/nominations.test.ts"],
  },
  {
    name: "evicted-by-a-plain-delete",
    promise: "pods are evicted by the Eviction API, within their disruption budgets",
    file: `${eviction}/nominations.ts`,
    find: 'do: "evict",',
    replace: 'do: "delete",',
    tests: [host],
  },
  {
    name: "eviction-spends-a-policy",
    promise: "the end of an evicted pod is no event of its job: no policy acts, no retry is spent",
    file: "shared/kube/gang-eviction.ts",
    find: "pods === undefined || (Object.hasOwn(pods, task)",
    replace: "(pods !== undefined && Object.hasOwn(pods, task)",
    tests: [host],
  },
  {
    name: "evicted-pods-come-at-once",
    promise: "an evicted pod beyond the minimum is not created before the other group has started",
    file: "shared/volcano/job/apply-action.ts",
    find: "!isKeptOut(mark, nameOf(task), index, context.view.now)",
    replace: "(!isKeptOut(mark, nameOf(task), index, context.view.now) || index >= 0)",
    tests: [host],
  },
  {
    name: "more-evicted-than-needed",
    promise: "without any one of the evicted pods the group would not fit",
    file: `${eviction}/choice.ts`,
    find: "const chosen = reprieved(first, fits);",
    replace: "const chosen = reprieved(first, fits).length > 0 ? first : first;",
    tests: [mixes],
  },
  {
    name: "equals-preempted",
    promise: "a group gets no room from groups of its own priority",
    file: `${eviction}/claims.ts`,
    find: "unit.priority < own",
    replace: "unit.priority <= own",
    tests: [mixes],
  },
  {
    name: "reclaimed-below-deserved",
    promise: "a queue gives room only while it has more than it deserves",
    file: `${eviction}/claims.ts`,
    find: "return nanoOf(has, name) > one.deserved.nano;",
    replace: "return nanoOf(has, name) > one.deserved.nano - one.deserved.nano;",
    tests: [mixes],
  },
  {
    name: "nominated-places-open",
    promise: "the places of a nominated group are open to no other group",
    file: "shared/volcano/gang/reserve.ts",
    find: "open.filter((one) => one.uid !== uid).reduce",
    replace: 'open.filter((one) => one.uid !== uid && uid === "none").reduce',
    tests: [reserve],
  },
  {
    name: "budget-unread",
    promise: "units that a disruption budget does not allow are not chosen",
    file: `${eviction}/budgets.ts`,
    find: "if (!isAllowed) return false;",
    replace: "if (!isAllowed && pods.length < 0) return false;",
    tests: [host],
  },
  {
    name: "evicted-group-planned-beside-its-pods",
    promise: "an evicted group is planned only when none of its pods is left",
    file: "shared/volcano/gang/plan.ts",
    find: "takenBackOf(group) === undefined && evictedOf(group) === undefined ? pods.some(isEnding)",
    replace: "takenBackOf(group) === undefined ? pods.some(isEnding)",
    tests: [reserve],
  },
];
