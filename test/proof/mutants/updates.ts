/** Mutants of status updates: the tests named after Mesos' tests, or the sweep, must fail on each. */
import type { Mutant } from "./mutants.ts";

const cursor = "shared/updates/cursor.ts";
const outbox = "shared/core/updates.ts";
const deliver = "shared/updates/deliver.ts";
const seen = ["updates/mesos.test.ts", "updates/cursor.test.ts"] as const;

export const updateMutants: readonly Mutant[] = [
  {
    name: "update-acknowledged-unsent",
    promise: "U1: only the update that is outstanding can be acknowledged",
    file: cursor,
    find: 'if (cursor.outstanding?.sequence !== sequence) return "unexpected";',
    replace: "",
    tests: seen,
  },
  {
    name: "update-acknowledged-twice",
    promise: "U3: a late acknowledgement does not acknowledge the next update",
    file: cursor,
    find: 'if (sequence <= cursor.acknowledged) return "duplicate";\n  if (cursor.outstanding?.sequence !== sequence) return "unexpected";',
    replace: 'if (cursor.outstanding === undefined) return "duplicate";\n  sequence = cursor.outstanding.sequence;',
    tests: seen,
  },
  {
    name: "update-told-twice",
    promise: "a status update equal to the last one is not sent",
    file: outbox,
    find: "if (says(newest, uid, word)) return kept.to === to ? kept : { ...kept, to };",
    replace: "",
    tests: seen,
  },
  {
    name: "update-end-not-closing",
    promise: "the acknowledgement of the last update closes the stream",
    file: cursor,
    find: "const closed = outbox.entries.some((entry) => entry.sequence === sequence && entry.terminal);",
    replace: "const closed = false;",
    tests: seen,
  },
  {
    name: "update-not-answered-again",
    promise: "an object that waits for the last acknowledgement gets a step after it, also when a delivery comes later",
    file: deliver,
    find: "const left = outbox.leftAt !== undefined;",
    replace: "const left = outbox.leftAt === 0;",
    tests: ["updates/mesos.test.ts", "updates/crash.test.ts"],
  },
  {
    name: "update-retried-at-once",
    promise: "an update without acknowledgement is sent again after growing waits of ten minutes at most",
    file: cursor,
    find: "backoffOf(tries - 1, firstRetryMs, longestRetryMs)",
    replace: "backoffOf(0 * tries, firstRetryMs, longestRetryMs)",
    tests: seen,
  },
  {
    name: "update-sent-unclaimed",
    promise: "U2: of two simultaneous deliveries one sends",
    file: deliver,
    find: 'if (claimed === "raced") return await lost(context);\n  if (ports',
    replace: "if (ports",
    tests: ["updates/crash.test.ts", "updates/storm.test.ts"],
  },
  {
    name: "update-sent-after-its-records",
    promise: "U3: a delivery that has stood still until all records are gone sends nothing",
    file: deliver,
    find: "own.version === undefined ? began : ports.clock.monotonic()",
    replace: "ports.clock.monotonic()",
    tests: ["updates/crash.test.ts"],
  },
  {
    name: "update-counted-unheard",
    promise: "U1: an update is sent after the one before it was acknowledged",
    file: deliver,
    find: 'if (sent.did === "acknowledged")\n    return',
    replace: 'if (sent.did !== "refused")\n    return',
    scenarios: ["told-failing"],
    fault: "crash-after",
  },
  {
    name: "update-outstanding-forgotten",
    promise: "updates without acknowledgement at the death of a host are sent again by the next host",
    file: "shared/deployments/resync/sweep.ts",
    find: "if (scope.updates === true) due.push",
    replace: "if (scope.now === undefined) due.push",
    scenarios: ["told-hanging"],
    fault: "host-crash-after",
  },
  {
    name: "update-not-asked-again",
    promise:
      "an update is sent before the next resync although the step that saved it died before it requested the delivery",
    file: "shared/engine/writes/outbox.ts",
    find: "if (isOld && !isDoubtful(run, after)) return;",
    replace: "if (isOld) return;",
    scenarios: ["told"],
    fault: "crash-after",
  },
  {
    name: "update-begun-anew",
    promise:
      "U3: one wrong answer of the API server does not discard a stream: an acknowledged update is never sent again",
    file: deliver,
    find: "const isBack = own.version !== undefined && (await ports.checkpoints.load(key)) !== undefined;",
    replace: "const isBack = own.version === undefined && key === undefined;",
    scenarios: ["told"],
    fault: "404-named",
  },
  {
    name: "update-race-not-followed",
    promise: "a delivery that lost a race comes back",
    file: deliver,
    find: "await ports.queue.sendLater({ ...delivery, reason }, id, 1_000);",
    replace: "if (id === reason) await ports.queue.sendLater({ ...delivery, reason }, id, 1_000);",
    scenarios: ["told"],
    fault: "409",
  },
  {
    name: "update-without-the-latest",
    promise: "a late update has the latest state, too",
    file: "shared/updates/deliver.ts",
    find: "latest: standing(latest)",
    replace: "latest: standing(latest.sequence > 0 ? update : latest)",
    scenarios: ["told-failing"],
    fault: "crash-after",
  },
];
