/** Promises of status updates, each removed by one edit: the tests by the names of Mesos' must see it. */
import type { Tested } from "./mutants.ts";

const cursor = "shared/updates/cursor.ts";
const outbox = "shared/core/outbox.ts";
const seen = ["updates/mesos.test.ts", "updates/cursor.test.ts"] as const;

export const updateMutants: readonly Tested[] = [
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
    promise: "U3: a late acknowledgement is not the next update's",
    file: cursor,
    find: 'if (sequence <= cursor.acknowledged) return "duplicate";\n  if (cursor.outstanding?.sequence !== sequence) return "unexpected";',
    replace: 'if (cursor.outstanding === undefined) return "duplicate";\n  sequence = cursor.outstanding.sequence;',
    tests: seen,
  },
  {
    name: "update-told-twice",
    promise: "what was told last is not told again",
    file: outbox,
    find: "if (says(newest, uid, word)) return kept.to === to ? kept : { ...kept, to };",
    replace: "",
    tests: seen,
  },
  {
    name: "update-end-not-closing",
    promise: "an acknowledged end closes the stream",
    file: cursor,
    find: "const closed = outbox.entries.some((entry) => entry.sequence === sequence && entry.terminal);",
    replace: "const closed = false;",
    tests: seen,
  },
  {
    name: "update-not-answered-again",
    promise: "who waits for the last acknowledgement is told of it, also by a delivery that comes after it",
    file: "shared/updates/deliver.ts",
    find: "if (outbox.leftAt !== undefined)",
    replace: "if (outbox.leftAt === 0)",
    tests: ["updates/mesos.test.ts", "updates/crash.test.ts"],
  },
  {
    name: "update-retried-at-once",
    promise: "what nobody acknowledges comes again ever later, every ten minutes in the end",
    file: cursor,
    find: "firstRetryMs * 2 ** Math.min(tries - 1, 6)",
    replace: "firstRetryMs * 2 ** (0 * tries)",
    tests: seen,
  },
  {
    name: "update-sent-unclaimed",
    promise: "U2: of two deliveries at once one sends",
    file: "shared/updates/deliver.ts",
    find: 'if (claimed === "raced") return { did: "raced" };\n  if (desk',
    replace: "if (desk",
    tests: ["updates/crash.test.ts", "updates/storm.test.ts"],
  },
];
