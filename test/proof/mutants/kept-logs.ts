/** Mutants of kept logs: each is seen by the sweep's scenarios of them, or by the tests named. */
import type { Mutant } from "./mutants.ts";

const keeps = "shared/engine/cluster/kept-logs.ts";
const engine = "test/unit/engine/cluster/kept-logs.test.ts";

export const keptLogMutants: readonly Mutant[] = [
  {
    name: "log-kept-after-the-deletion",
    promise: "a driver's log is kept before its pod is deleted",
    file: "shared/spark/application/run/kept-log.ts",
    find: "return logs.length === 0 ? [stage] : [logs, stage];",
    replace: "return logs.length === 0 ? [stage] : [stage, logs];",
    scenarios: ["kept-logs"],
    fault: "crash-after",
  },
  {
    name: "log-unbounded",
    promise: "at most 64 KiB of a log are kept",
    file: "shared/adapters/kubernetes/pod-log.ts",
    find: "if (bytes.length <= most) return text;",
    replace: "if (bytes.length <= 100 * most) return text;",
    scenarios: ["kept-logs"],
    fault: "crash-after",
  },
  {
    name: "fourth-log-kept",
    promise: "the logs of three attempts are kept",
    file: keeps,
    find: "log].slice(-mostLogs);",
    replace: "log].slice(-mostLogs - 1);",
    scenarios: ["kept-logs"],
    fault: "crash-after",
  },
  {
    name: "logs-left-behind",
    promise: "the logs of a deleted application are deleted before its record",
    file: "shared/engine/reconcile/step.ts",
    find: "if (record?.logs === true)",
    replace: "if (record?.logs !== true)",
    scenarios: ["kept-logs-deletion"],
    fault: "crash-after",
  },
  {
    name: "unread-log-holds-up",
    promise: "a log that cannot be read holds up no deletion",
    file: keeps,
    find: 'did: "passed",',
    replace: 'did: "troubled",',
    tests: [engine],
  },
  {
    name: "log-missing-by-one-answer",
    promise: "one answer that there is no log does not lose the log",
    file: keeps,
    find: 'first.heard || first.why === "forbidden" ?',
    replace: 'first.heard || first.why === "forbidden" || first.why === "notFound" ?',
    scenarios: ["kept-logs-expiry"],
    fault: "404-named",
  },
  {
    name: "log-of-another-pod",
    promise: "no log of another pod of the same name is kept",
    file: keeps,
    find: "return pod === undefined || pod.metadata.uid === uid ? read : silent;",
    replace: 'return pod === undefined || uid !== "" ? read : silent;',
    tests: [engine],
  },
  {
    name: "aged-logs-stay",
    promise: "logs whose retention is over are deleted",
    file: "shared/forward/resync.ts",
    find: "if (!isLeft && (hint.pruneAt === undefined || hint.pruneAt > now)) return [];",
    replace: "if (!isLeft) return [];",
    tests: ["test/unit/forward/resync.test.ts"],
  },
];
