/** Mutants of the dispatcher and of the functions that it calls: the sweep, or the tests named, must fail on each. */
import type { Mutant } from "./mutants.ts";

const taking = "shared/adapters/dispatch/delivery-calls.ts";
const lease = "shared/forward/lease.ts";
const calls = ["test/unit/deployments/dispatch/calls.test.ts"] as const;
const deliveries = ["test/unit/adapters/dispatch/delivery-calls.test.ts"] as const;
const leases = ["test/unit/forward/lease.test.ts"] as const;

export const dispatcherMutants: readonly Mutant[] = [
  {
    name: "answers-messages-dropped",
    promise: "what a function sends arrives in the queue with the answer",
    file: taking,
    find: "        for (const one of called.carried) await put(one);\n",
    replace: "",
    scenarios: ["dispatched-told"],
    fault: "crash-after",
  },
  {
    name: "broken-call-acknowledged",
    promise: "a message is removed only by an answer: a call that breaks off brings it again",
    file: taking,
    find: "        return { againMs };\n",
    replace: '        return againMs < 0 ? { againMs } : "done";\n',
    scenarios: ["dispatched-told"],
    fault: "crash-after|answer-lost",
  },
  {
    name: "loser-of-two-dispatchers",
    promise: "of the calls of a dispatcher and of the one before it, the loser of a save touches nothing",
    file: "shared/engine/writes/save.ts",
    find: 'if (version === "raced") return "raced";',
    replace: 'if (version === "raced") return held;',
    scenarios: ["dispatched-job"],
    fault: "host-crash-before",
  },
  {
    name: "outlives-without-a-fence",
    promise: "a call that outlives its dispatcher starts nothing later than the fence",
    file: "shared/engine/cluster/apply.ts",
    find: "effect: Effect): Promise<Done> => {\n  if (context.clock.monotonic() > context.until) return late;",
    replace: "effect: Effect): Promise<Done> => {",
    scenarios: ["dispatched-deletion"],
    fault: "two-dispatchers-1m",
  },
  {
    name: "failed-message-acknowledged",
    promise: "a message that the answer calls failed comes again",
    file: taking,
    find: "if (called.failed.length > 0)",
    replace: "if (called.failed.length > 10)",
    tests: deliveries,
  },
  {
    name: "refused-call-counts",
    promise: "a delivery that nobody began does not count: a function that is away makes no message be dropped",
    file: taking,
    find: "    return { againMs: spread(waitMs), begun: false };\n  };\n  const open",
    replace: "    return { againMs: spread(waitMs) };\n  };\n  const open",
    tests: deliveries,
  },
  {
    name: "update-lost-with-its-answer",
    promise: "an update is told although the answer was lost that asked for its delivery",
    file: "shared/engine/writes/outbox.ts",
    find: "  if (world.updates?.asksAgain === true) return true;\n",
    replace: "",
    scenarios: ["dispatched-told"],
    fault: "answer-lost",
  },
  {
    name: "function-does-not-ask-again",
    promise: "a function that a dispatcher calls asks for the delivery of a recent update again",
    file: "shared/deployments/reconcile/function.ts",
    find: "asksAgain: called }",
    replace: "asksAgain: called && to === undefined }",
    tests: calls,
  },
  {
    name: "function-obeys-strangers",
    promise: "a function takes no step for a caller that does not prove itself",
    file: "shared/deployments/http/called.ts",
    find: "if (await isCaller(call, body)) return",
    replace: "if ((await isCaller(call, body)) || method !== undefined) return",
    tests: calls,
  },
  {
    name: "lease-taken-from-its-holder",
    promise: "a lease that its holder renews is taken by nobody else",
    file: lease,
    find: "return now() - watched.since >= durationMs;",
    replace: "return now() - watched.since >= 0;",
    tests: leases,
  },
  {
    name: "lease-held-beyond-its-time",
    promise: "a dispatcher that cannot renew its lease stops before another one may begin",
    file: lease,
    find: "now() - renewedAt < stopsMs;",
    replace: "now() - renewedAt < 2 * stopsMs;",
    tests: leases,
  },
  {
    name: "notice-accepted-unwritten",
    promise: "a notice that a node is about to go is answered when a function has written it",
    file: "shared/deployments/dispatch/start.ts",
    find: 'if (called.did !== "answered") throw',
    replace: 'if (called.did !== "answered") return;\n    if (called.failed.length > 10) throw',
    tests: ["test/unit/deployments/dispatch/start.test.ts"],
  },
  {
    name: "calls-without-lease",
    promise: "a dispatcher that does not hold the lease begins no call",
    file: "shared/deployments/dispatch/start.ts",
    find: "      mayCall() ? await call(delivery)",
    replace: "      mayCall() || delivery.messages.length > 0 ? await call(delivery)",
    tests: ["test/unit/deployments/dispatch/start.test.ts"],
  },
];
