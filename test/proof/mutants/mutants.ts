/** Mutants of the engine: each removes one promise by one edit and names the sweep or tests that must fail on it. */

type Edit = {
  readonly name: string;
  /** The promise that the edit removes. */
  readonly promise: string;
  readonly file: string;
  /** A text that occurs in the file exactly once. Line breaks, a renamed function and a moved file do not matter: `anchors.ts`. */
  readonly find: string;
  readonly replace: string;
  /** Declares a function that the replacement calls, and that `find` does not name: a text of the file, too. */
  readonly calls?: string;
};

/** A mutant that the sweep must see: the scenarios to run, and the faults as a regular expression. */
export type Swept = Edit & { readonly scenarios: readonly string[]; readonly fault: string };

/** A mutant that tests must see, where no sweep covers the promise: test files below `test/`. */
export type Tested = Edit & { readonly tests: readonly string[] };

export type Mutant = Swept | Tested;

const step = "shared/engine/reconcile/step.ts";
const save = "shared/engine/writes/save.ts";
const apply = "shared/engine/cluster/apply.ts";
const liveReads = "shared/engine/reads/live.ts";
const comeBack = "shared/engine/writes/requeue.ts";
const cluster = "shared/adapters/kubernetes/cluster.ts";
const submitting = "shared/spark/application/run/submit.ts";
const decide = "shared/spark/application/decide.ts";

export const mutants: readonly Mutant[] = [
  {
    name: "acts-before-save",
    promise: "R1: a fact that cannot be observed again is saved before any write depends on it",
    file: step,
    find: "const saved = await save(run, held, plan);",
    replace:
      "for (const stage of plan.stages) await applyStage({ cluster: world.cluster, clock: world.clock, until: Number.POSITIVE_INFINITY, now: run.observation.now }, stage, world.timing.parallel);\n  const saved = await save(run, held, plan);",
    scenarios: ["completion"],
    fault: "crash-.*",
  },
  {
    name: "save-unconditional",
    promise: "a save is refused unless it replaces what was loaded",
    file: save,
    find: "await world.checkpoints.save(message, next, held.version);",
    replace: "await world.checkpoints.save(message, next, (await world.checkpoints.load(message))?.version);",
    scenarios: ["retry", "suspension"],
    fault: "pause-.*|frozen|pair",
  },
  {
    name: "loser-goes-on",
    promise: "a step whose save is refused writes nothing else",
    file: save,
    find: 'if (version === "raced") return "raced";',
    replace: 'if (version === "raced") return held;',
    scenarios: ["retry", "suspension"],
    fault: "pause-.*|frozen|pair",
  },
  {
    name: "past-shown",
    promise: "a status is written only by a step that has the newest record, whether or not it had to save",
    file: "shared/engine/writes/status.ts",
    find: 'if (await isOvertaken(run, held)) return "raced";',
    replace: "",
    tests: ["test/unit/engine/writes/status.test.ts"],
  },
  {
    name: "old-decision-replayed",
    promise: "R2: after a conflict or a death the next step reads and decides again; no write is replayed",
    file: save,
    find: 'if (version === "raced") return "raced";',
    replace:
      'if (version === "raced") return await save(run, { ...held, version: (await world.checkpoints.load(message))?.version }, plan);',
    calls: "const save = async (run: StepContext,",
    scenarios: ["retry", "suspension"],
    fault: "pause-.*|frozen|pair",
  },
  {
    name: "acts-without-a-save",
    promise: "a step deletes only after its save has succeeded",
    file: save,
    find: "plan.safety?.fenced !== true && !acts(plan) &&",
    replace: "plan.safety?.fenced !== true &&",
    scenarios: ["retry"],
    fault: "pause-.*|slow|frozen",
  },
  {
    name: "no-fence",
    promise: "R3: a step that was paused after its save begins no write after the fence",
    file: apply,
    find: "effect: Effect): Promise<Done> => {\n  if (context.clock.monotonic() > context.until) return late;",
    replace: "effect: Effect): Promise<Done> => {",
    scenarios: ["suspension", "stranger", "deletion"],
    fault: "pause-.*",
  },
  {
    name: "fence-from-the-save",
    promise: "a creation begins within the fence that counts from the start of the reads, however long they took",
    file: step,
    find: "const until = creates(stage) ? Math.min(last, creationsEnd(run, plan)) : last;",
    replace: "const until = last;",
    tests: ["test/unit/engine/fence.test.ts"],
  },
  {
    name: "busy-let-go",
    promise: "a busy executor is not deleted because fewer executors are wanted",
    file: "shared/spark/executors/allocation.ts",
    find: "return force ? 3 : never;",
    replace: "return force ? 3 : 1;",
    scenarios: ["own-fewer-busy"],
    fault: "crash-after",
  },
  {
    name: "memory-lack-forgotten",
    promise: "after a lack of memory the executors of a run have a single task until its driver ends",
    file: "shared/spark/application/executors/allocation-result.ts",
    find: 'return singleTask === true || lost > 0 || members.some(({ pod }) => endingOf(pod)?.reason === "memory");',
    replace: "return singleTask === true && lost > 0 && members.length === 0;",
    scenarios: ["own-memory"],
    fault: "crash-after",
  },
  {
    name: "end-forgotten",
    promise: "the end of an executor is saved before its pod is deleted",
    file: "shared/spark/application/executors/warnings.ts",
    find: "{ ...bare, ...written(ends) }",
    replace: "bare",
    scenarios: ["own-fewer"],
    fault: "crash-after",
  },
  {
    name: "no-distance",
    promise: "the next attempt begins only when no write of the last one can arrive any more",
    file: "shared/engine/settings.ts",
    find: "timing.fenceMs + timing.requestTimeoutMs + 1_000;",
    replace: "0 * timing.fenceMs;",
    scenarios: ["change", "retry"],
    fault: "pause-.*|slow|late.*",
  },
  {
    name: "ended-driver-cleared-early",
    promise: "an ended driver keeps its name until no creation of it can arrive any more",
    file: decide,
    find: "const due = Math.max(from, settledAt(context));",
    replace: "const due = from;",
    scenarios: ["retry"],
    fault: "pause-5s|slow",
  },
  {
    name: "delete-by-name",
    promise: "a delete has the UID for which it was decided as its precondition",
    file: cluster,
    find: "preconditions: { uid: fence.uid, resourceVersion: fence.resourceVersion },",
    replace: "preconditions: { resourceVersion: fence.resourceVersion },",
    scenarios: ["change", "retry", "stranger"],
    fault: "slow|late.*|frozen|pair|timeout.*",
  },
  {
    name: "status-unconditional",
    promise: "a status is refused unless it was decided from the newest object",
    file: cluster,
    find: "metadata: { resourceVersion }, status",
    replace: "status",
    scenarios: ["completion"],
    fault: "slow|frozen|late|pair",
  },
  {
    name: "strangers-adopted",
    promise: "the owner's UID decides whether an object belongs to an application",
    file: apply,
    find: "if (!ownedBy(there, effect.owner)) {",
    replace: "if (there.kind === undefined) {",
    scenarios: ["stranger"],
    fault: "crash-.*",
  },
  {
    name: "refused-at-once",
    promise: "one wrong refusal of the API server does not fail an application",
    file: apply,
    find: "if (!(cause instanceof ApiError) || !isRefusal(cause)) throw cause;",
    replace: "throw cause;",
    scenarios: ["completion"],
    fault: "422",
  },
  {
    name: "trouble-is-failure",
    promise: "failures of the platform do not fail an application",
    file: "shared/engine/trouble.ts",
    find: "(error.status === 422 ||",
    replace: "(error.status >= 500 || error.status === 403 || error.status === 422 ||",
    scenarios: ["completion"],
    fault: "outage.*|read-only.*|quota.*",
  },
  {
    name: "absence-believed-at-once",
    promise: "an application counts as gone only when get and list agree",
    file: liveReads,
    find: "if (object === undefined) await confirmAbsence(world.cluster, key, operator);",
    replace: "",
    scenarios: ["completion"],
    fault: "404-named|stale",
  },
  {
    name: "attempt-not-counted",
    promise: "the number of an attempt is used once",
    file: submitting,
    find: "const attempt = memory.attempt + 1;",
    replace: "const attempt = Math.max(1, memory.attempt);",
    scenarios: ["retry"],
    fault: "crash-.*",
  },
  {
    name: "strays-left",
    promise: "a pod of a past attempt is deleted as soon as it is seen",
    file: "shared/spark/application/run/context.ts",
    find: "notDeleted(found?.strays ?? []).map((pod) => removal(pod, pods));",
    replace: "notDeleted(found?.strays ?? []).slice(0, 0).map((pod) => removal(pod, pods));",
    scenarios: ["suspension"],
    fault: "pause-5s|slow",
  },
  {
    name: "owned-by-label",
    promise: "the owner references of a pod decide to which driver it belongs, and no label does",
    file: "shared/spark/application/state/evidence.ts",
    find: "pods.filter((pod) => owners.some((owner) => ownedBy(pod, owner)))",
    replace: "pods.filter(() => owners.length > 0)",
    scenarios: ["completion"],
    fault: "crash-.*",
  },
  {
    name: "again-dropped",
    promise: "a plan with more to do requests another step",
    file: comeBack,
    find: 'if (plan.next.do === "again" || ',
    replace: "if (",
    scenarios: ["change"],
    fault: "crash-.*",
  },
  {
    name: "wake-not-armed",
    promise: "an object that waits for a time gets a step then",
    file: comeBack,
    find: "if (delayMs > longestDelayMs) return;",
    replace: "if (delayMs > 0) return;",
    scenarios: ["retry"],
    fault: "crash-.*",
  },
  {
    name: "race-not-followed",
    promise: "a step whose save is refused runs again, because its message may be newer than what the other step saw",
    file: comeBack,
    find: 'await world.queue.sendLater({ ...known(message), reason: "raced" }, id, 1_000);',
    replace: "if (id === undefined) await world.queue.sendLater(message, id, 1_000);",
    scenarios: ["executors-kept"],
    fault: "overtaken.*",
  },
  {
    name: "trouble-not-followed",
    promise: "a step with failed requests runs again after a wait",
    file: comeBack,
    find: "await world.queue.sendLater(again, dedupe.timer(message, id), delayMs);",
    replace: "if (delayMs < 0) await world.queue.sendLater(again, dedupe.timer(message, id), delayMs);",
    scenarios: ["completion"],
    fault: "5.*|timeout.*|outage.*",
  },
  {
    name: "replaced-once",
    promise: "a run that is replaced is ended in spite of deaths and conflicts",
    file: "shared/spark/scheduled/decide.ts",
    find: "const newest = starting ?? lastRun;",
    replace: "const newest = starting ?? (lastRun?.replaces === true ? undefined : lastRun);",
    scenarios: ["replacement"],
    fault: "404-named",
  },
  {
    name: "decision-reads-again",
    promise: "within a step a query is answered once, also when there is more to decide",
    file: "shared/engine/cluster/queries.ts",
    find: "const idOf = (query: Query): string => JSON.stringify(query);",
    replace: "const idOf = (query: Query): string => JSON.stringify(query) + Math.random();",
    tests: ["engine/more.test.ts"],
  },
  {
    name: "decision-answers-mixed",
    promise: "each of several parallel reads gets its own answer",
    file: "shared/core/decision.ts",
    find: "next += own.length;",
    replace: "",
    tests: ["core/decision.test.ts"],
  },
  {
    name: "event-of-the-submission-before",
    promise: "the event of a state is written although the status shows the same state of an earlier submission",
    file: "shared/spark/application/state/status.ts",
    find: "shownState(object) === stateFor(object, state) && (driver === undefined || showsSubmission(object, driver))",
    replace: "shownState(object) === stateFor(object, state) && (driver === undefined || driver !== null)",
    tests: ["spark/application/run/history.test.ts"],
  },
  {
    name: "decision-without-end",
    promise: "a decision that reaches no plan is a fault, not an endless loop",
    file: "shared/engine/cluster/queries.ts",
    find: "await from(first, mostReads)",
    replace: "await from(first, mostReads * 1_000)",
    tests: ["engine/writes/requeue.test.ts"],
  },
  {
    name: "decision-slice-per-read",
    promise: "parts of a decision whose reads need no request run in one slice",
    file: "shared/engine/cluster/queries.ts",
    find: "const given = step.done === true ? undefined : answers.known(step.value);",
    replace: "const given: readonly Answer[] | undefined = undefined;",
    tests: ["engine/cluster/queries.test.ts"],
  },
  {
    name: "early-failures-wait",
    promise: "a driver that fails at once is retried at its interval: its seen pod says that no creation is under way",
    file: "shared/spark/application/driver/monitor.ts",
    find: '? omit(memory, "plannedAt") : memory',
    replace: "? memory : memory",
    tests: ["test/unit/host/early-failures.test.ts"],
  },
  {
    name: "second-creation-forgotten",
    promise: "a driver that two saves planned may be created twice: the next attempt keeps its distance",
    file: "shared/spark/application/run/submit.ts",
    find: "const plannedAt = Math.max(view.now, submittedAt + 1);",
    replace: "const plannedAt = Math.max(view.now, submittedAt);",
    tests: ["test/unit/spark/application/driver/monitor.test.ts"],
  },
  {
    name: "executors-after-reads",
    promise: "missing executors are created before anything else is read",
    file: "shared/spark/application/driver/monitor.ts",
    find: "if (first !== undefined) return { first };",
    replace: "",
    tests: ["spark/application/ahead.test.ts"],
  },
  {
    name: "server-start-unwatched",
    promise: "an event says that a Connect server does not start",
    file: "shared/spark/connect/decide.ts",
    find: "pods: settled(starting === undefined ? [] : [starting.pod]),",
    replace: "pods: settled([]),",
    scenarios: ["connect-unplaced"],
    fault: "message-lost",
  },
  {
    name: "holdup-held-before-told",
    promise:
      "the event with the reason that keeps a pod from starting is written before the record marks it as written",
    file: "shared/kube/startup.ts",
    find: "memory: view.memory ?? plan.memory,",
    replace: "memory: { ...plan.memory, held: [...known, gist].slice(-mostTold) },",
    scenarios: ["connect-unplaced"],
    fault: "crash-.*",
  },
];
