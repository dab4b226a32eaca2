/** Mutants of the dialect of `spark.apache.org`: each repeats a fault of upstream's operator, and the tests named must fail. */
import type { Mutant } from "./mutants.ts";

const decide = "shared/spark/apache/decide.ts";
const evidence = "shared/spark/apache/status/evidence.ts";
const progress = "shared/spark/apache/status/progress.ts";
const record = "shared/spark/apache/status/record.ts";
const histories = "shared/spark/apache/status/history.ts";
const restart = "shared/spark/apache/status/restart.ts";
const routes = "shared/spark/apache/routes.ts";
const submission = "shared/spark/apache/submission.ts";
const cluster = "shared/spark/cluster";

const ofLives = ["test/unit/spark/apache/lives.test.ts"];
const ofCluster = ["test/unit/spark/cluster/cluster.test.ts"];
const ofExecutors = ["test/unit/spark/apache/executors.test.ts"];
const ofEvidence = ["test/unit/spark/apache/status/evidence.test.ts"];
const ofHistories = ["test/unit/spark/apache/status/histories.test.ts"];
const ofProgress = ["test/unit/spark/apache/status/progress.test.ts"];
const ofRecord = ["test/unit/spark/apache/status/record.test.ts"];
const ofRestart = ["test/unit/spark/apache/status/restart.test.ts"];
const ofSubmission = ["test/unit/spark/apache/submission.test.ts"];

export const apacheMutants: readonly Mutant[] = [
  {
    name: "apache-phase-after-containers",
    promise: "a driver pod that failed before its first container is seen at once (#863)",
    file: evidence,
    find: 'if (status.phase === "Failed") return { is: "ended", as: "Failed" };',
    replace: 'if (ended !== undefined && status.phase === "Failed") return { is: "ended", as: "Failed" };',
    tests: ofEvidence,
  },
  {
    name: "apache-sidecar-ends",
    promise: "a sidecar that ends ends no application",
    file: evidence,
    find: "const ended = terminationOf(status, main);",
    replace:
      "const ended = terminationOf(status, main) ?? status.containerStatuses?.map(({ state }) => state?.terminated)[1];",
    tests: ofEvidence,
  },
  {
    name: "apache-two-ends",
    promise: "a driver that ended before it was seen gets one end",
    file: progress,
    find: '  if (evidence.is === "ended") {',
    replace:
      '  if (evidence.is === "ended" && currentOf(record).summary === "DriverRequested") return enter(look, "Failed");\n  if (evidence.is === "ended") {',
    calls: "const enter = ({ record, seen }: Look, summary",
    tests: ofHistories,
  },
  {
    name: "apache-client-mode-for-ever",
    promise: "ClientMode fails once (SPARK-54674)",
    file: progress,
    find: "  switch (groupOf(summary)) {",
    replace:
      '  if (seen.refused?.as === "Failed" && record.history.length < 9) return enter(look, "Failed");\n  switch (groupOf(summary)) {',
    calls: "const enter = ({ record, seen }: Look, summary",
    tests: ofHistories,
  },
  {
    name: "apache-driver-missed",
    promise: "a driver that a cache misses has not failed (SPARK-57868)",
    file: progress,
    find: 'if (driver === "unseen") return timed(look, undefined);',
    replace: 'if (driver === "unseen") return enter(look, "Failed");',
    calls: "const enter = ({ record, seen }: Look, summary",
    tests: ofHistories,
  },
  {
    name: "apache-kept-but-gone",
    promise: "objects whose state says that they are kept are kept, whatever the restart policy is",
    file: progress,
    find: "  if (isKept(currentOf(record).summary, policy))\n",
    replace:
      '  if (policy.restart.policy !== "Never" && !seen.released) return release(look);\n  if (isKept(currentOf(record).summary, policy))\n',
    calls: "const release = ({ record, policy, seen }: Look): Turn => {\n  const forced",
    tests: ofHistories,
  },
  {
    name: "apache-next-beside-last",
    promise: "the next attempt begins once no object of the last one is left",
    file: progress,
    find: '  if ("next" in after) {\n    if (!seen.released) return release(look);',
    replace:
      '  if ("next" in after) {\n    if (!seen.released && look.policy.trims === undefined) return release(look);',
    tests: ofProgress,
  },
  {
    name: "apache-refusal-unrestarted",
    promise: "an attempt that cannot be built follows the restart policy, too",
    file: restart,
    find: "OnFailure: isFailure,",
    replace: 'OnFailure: (ended) => isFailure(ended) && ended !== "SchedulingFailure",',
    tests: [...ofRestart, ...ofHistories],
  },
  {
    name: "apache-reset-forgotten",
    promise: "an attempt that lasted for restartCounterResetMillis begins the counters anew",
    file: restart,
    find: "restartCounter: reset ? 1 : restartCounter + 1,",
    replace: "restartCounter: reset ? restartCounter + 1 : restartCounter + 1,",
    tests: ofRestart,
  },
  {
    name: "apache-history-unbounded",
    promise: "a history that is not trimmed has a bound",
    file: record,
    find: "(entry, at) => entry === begun || at >= slim.length - mostEntries,",
    replace: "(entry, at) => entry === begun || at >= slim.length - mostEntries * 10,",
    tests: ofRecord,
  },
  {
    name: "apache-message-of-a-trace",
    promise: "a message is one line of bounded length",
    file: histories,
    find: "=> startOf(oneLine(text), longestMessage);",
    replace: "=> startOf(text, longestMessage * 10);",
    tests: ofRecord,
  },
  {
    name: "apache-null-history",
    promise: "a status without states shows none, and does not throw",
    file: histories,
    find: "if (!isState(summary) || typeof at !==",
    replace: "if (typeof at !==",
    tests: ofRecord,
  },
  {
    name: "apache-ingress-replaced",
    promise: "an Ingress without rules keeps its class and its certificates",
    file: routes,
    find: "? spec : { ...spec, rules: [rule] };",
    replace: "? spec : { rules: [rule] };",
    tests: ofSubmission,
  },
  {
    name: "apache-confs-of-the-process",
    promise: "the confs of the user's name no other application than their own",
    file: submission,
    find: "    conf.set(key, value);\n",
    replace: "    if (!conf.has(key)) conf.set(key, value);\n",
    tests: ofSubmission,
  },
  {
    name: "apache-owned-by-driver-later",
    promise: "objects before the driver are owned by the application from their creation on",
    file: submission,
    find: "    ownerReferences: [ownerOf(app)],\n  },\n});\n\n/** The executors' template",
    replace: "  },\n});\n\n/** The executors' template",
    tests: ofSubmission,
  },
  {
    name: "apache-late-driver",
    promise: "no object is deleted while a creation of it may still arrive",
    file: decide,
    find: "stages: now < at ? [] : [removals(",
    replace: "stages: now < 0 ? [] : [removals(",
    scenarios: ["apache-deletion"],
    fault: "late|slow|frozen",
  },
  {
    name: "apache-driver-by-one-list",
    promise: "a driver that one old list misses has not failed (SPARK-57868)",
    file: "shared/spark/apache/pods.ts",
    find: "if (found.driver !== undefined || !expects) return found;",
    replace: "if (found.driver !== undefined || expects) return found;",
    scenarios: ["apache-retry"],
    fault: "stale",
  },
  {
    name: "apache-driver-by-label",
    promise: "a driver is the application's only by its owner",
    file: "shared/spark/apache/pods.ts",
    find: '"driver" && ownedBy(pod, uid)',
    replace: '"driver"',
    tests: ofLives,
  },
  {
    name: "apache-sentinel-written",
    promise: "nothing is written to upstream's mark of its own health",
    file: decide,
    find: 'if (labelOf(object, sentinelLabel) === "true")',
    replace: 'if (labelOf(object, sentinelLabel) === "yes")',
    tests: ofLives,
  },
  {
    name: "apache-deletion-for-ever",
    promise: "the deletion of an application that upstream has seen ends",
    file: decide,
    find: "name !== upstreamFinalizer",
    replace: "name === upstreamFinalizer",
    tests: ofLives,
  },
  {
    name: "apache-event-lost",
    promise: "each state has an Event, also where the process that wrote the record died before it",
    file: "shared/spark/apache/status/events.ts",
    find: "number > shown)",
    replace: "number > shown + 1)",
    tests: ["test/unit/spark/apache/status/events.test.ts"],
  },
  {
    name: "apache-counted-twice",
    promise: "a counter counts a state once",
    file: "shared/spark/apache/metrics.ts",
    find: "entry.number <= newest",
    replace: "entry.number < newest",
    tests: ["test/unit/spark/apache/metrics.test.ts"],
  },
  {
    name: "cluster-pods-shared",
    promise: "two clusters of one namespace share no pod",
    file: `${cluster}/objects.ts`,
    find: "selector: { matchLabels: podsOf(role, cluster) },",
    replace: 'selector: { matchLabels: { "spark-role": role } },',
    tests: ofCluster,
  },
  {
    name: "cluster-failure-for-ever",
    promise: "a refusal of a cluster is one state, however often it is repeated",
    file: `${cluster}/memory.ts`,
    find: "if (newest.summary === summary) {",
    replace: "if (newest.summary === summary && newest.message === undefined) {",
    tests: ofCluster,
  },
  {
    name: "cluster-autoscaler-overridden",
    promise: "the number of workers is their autoscaler's, where there is one",
    file: `${cluster}/decide.ts`,
    find: "const isCounted = isScaled(spec) &&",
    replace: "const isCounted = !isScaled(spec) &&",
    tests: ofCluster,
  },
  {
    name: "cluster-retried-at-once",
    promise: "a refused object is sent again after a wait",
    file: `${cluster}/decide.ts`,
    find: "if (view.now < retryAt)",
    replace: "if (view.now < 0)",
    tests: ofCluster,
  },
  {
    name: "cluster-change-ignored",
    promise: "a changed spec changes the objects of a cluster",
    file: `${cluster}/decide.ts`,
    find: "const made = there.metadata.annotations?.[specAnnotation];",
    replace: "const made = wanted.metadata.annotations?.[specAnnotation];",
    scenarios: ["cluster-changed"],
    fault: "crash-after",
  },
  {
    name: "apache-stuck-executor-left",
    promise: "an executor that does not start is deleted after its time, so that its driver creates another",
    file: "shared/spark/apache/executors.ts",
    find: "deletions: effectsOfEndings(repaired.terminations),",
    replace: "deletions: effectsOfEndings(repaired.terminations.slice(0, 0)),",
    tests: ofExecutors,
  },
  {
    name: "apache-dead-node-unread",
    promise: "an executor whose node does not answer is given up, so that its driver creates another",
    file: "shared/spark/apache/executors.ts",
    find: "const nodes = yield* nodesOf(context, executors);",
    replace: "const nodes = yield* nodesOf(context, executors.slice(0, 0));",
    scenarios: ["apache-machine-away"],
    fault: "crash-after",
  },
  {
    name: "apache-loss-untold",
    promise: "the loss of an executor is told with its reason, also where the driver has ended since",
    file: "shared/spark/apache/executors.ts",
    find: "  const judged = lives ? executors :",
    replace: "  const judged = lives ? executors.slice(0, 0) : executors.length > 0 ? [] :",
    scenarios: ["apache-thresholds"],
    fault: "crash-after",
  },
  {
    name: "apache-own-ignored",
    promise:
      "an application that asks for executors of Rekindle's own is refused, and does not run otherwise than it says",
    file: decide,
    find: "if (unserved.length > 0)",
    replace: "if (unserved.length > 9)",
    tests: ofExecutors,
  },
];
