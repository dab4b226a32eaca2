/** Mutants of nodes that go, with and without a notice: each is seen by the scenarios named, or by the tests named. */
import type { Mutant } from "./mutants.ts";

export const nodeMutants: readonly Mutant[] = [
  {
    name: "deleted-node-unheard",
    promise: "executors on a node that is deleted without notice are replaced before Kubernetes deletes their pods",
    file: "shared/spark/application/executors/repair.ts",
    find: "(leavingAt(pod) ?? now + 1) <= now;",
    replace: "(leavingAt(pod) ?? now + 1) < 0;",
    tests: ["test/unit/spark/application/executors/node-drain.test.ts"],
  },
  {
    name: "deleted-node-left",
    promise:
      "executors on a node that is deleted without notice are replaced at once, where their driver creates them, too",
    file: "shared/spark/application/executors/repair.ts",
    find: "isSuspect(pod) || isGivenUp(pod, now) || isDue(pod, now)));",
    replace: "isSuspect(pod) || isGivenUp(pod, now)));",
    scenarios: ["assist-machine-gone"],
    fault: "crash-after",
  },
  {
    name: "deleted-node-read-once",
    promise: "a node whose end has come is read again soon, because the first read may be behind",
    file: "shared/spark/application/executors/node-drain.ts",
    find: 'cordoning.is === "open" ? secondReadMs : 0;',
    replace: 'cordoning.is === "open" ? 0 * secondReadMs : 0;',
    tests: ["test/unit/spark/application/executors/node-drain.test.ts"],
  },
  {
    name: "closing-node-preferred",
    promise: "a replacement never has the node that is about to go, whatever its user prefers",
    file: "shared/spark/executors/nodes.ts",
    find: 'excluding(preferring(recordAt(pod, "spec"), others), closing) };',
    replace: 'preferring(recordAt(pod, "spec"), [...others, ...closing]) };',
    tests: ["test/unit/spark/application/executors/node-drain.test.ts"],
  },
  {
    name: "closing-node-forgotten",
    promise: "a node that is about to go takes no executor, also once no noticed executor is left on it",
    file: "shared/spark/executors/nodes.ts",
    find: "of [...noticed, ...moved])",
    replace: "of [...noticed, ...moved.slice(0, 0)])",
    tests: ["test/unit/spark/application/executors/node-drain.test.ts"],
  },
  {
    name: "closing-node-by-an-old-list",
    promise: "after a list that is behind, the notices on executors that were read anew hold",
    file: "shared/spark/application/executors/allocator.ts",
    find: "there: withMembers(found, members).executors,",
    replace: "there: found.executors,",
    tests: ["test/unit/spark/application/executors/node-drain.test.ts"],
  },
  {
    name: "notice-kept-though-it-stays",
    promise: "a notice that the node stays removes the earlier one",
    file: "shared/forward/node-notice.ts",
    find: "if (stays === true || until === undefined) return announced === until;",
    replace: "if (until === undefined) return true;",
    tests: ["test/unit/forward/node-notice.test.ts"],
  },
  {
    name: "timer-again-outdated",
    promise: "the timer of a step that died beside its save comes again, and carries out the plan",
    file: "shared/engine/writes/save.ts",
    find: "if (run.message.reason !== timerReason || !leavesWork(run, held, plan))",
    replace: 'if (run.message.reason !== "" || timerReason === "" || !leavesWork(run, held, plan))',
    tests: ["test/unit/engine/reads/timed.test.ts"],
  },
  {
    name: "deleted-node-untold",
    promise: "a deleted node is passed on",
    file: "shared/forward/node-watch.ts",
    find: "if (before === undefined || after !== undefined) return;",
    replace: "if (before === undefined || after === undefined) return;",
    tests: ["test/unit/forward/node-watch.test.ts"],
  },
];
