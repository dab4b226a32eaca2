/** Mutants of the command line: timeouts, names, and commands that write nothing; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const testsOf = (...names: readonly string[]): readonly string[] => names.map((name) => `test/unit/${name}.test.ts`);

export const commandLineMutants: readonly Mutant[] = [
  {
    name: "stream-outlives-timeout",
    promise: "a log that is followed ends at the command's timeout",
    file: "shared/cli/io/deadline.ts",
    find: "sleep(deadline.left(), isRead.signal)",
    replace: "sleep(2 * deadline.left(), isRead.signal)",
    tests: testsOf("cli/commands/deadline"),
  },
  {
    name: "timeout-per-object",
    promise: "all keys of a recovery share one wait",
    file: "shared/cli/commands/recover.ts",
    find: "waitMs: Math.max(0, until - tools.now())",
    replace: "waitMs: Math.max(how.waitMs, until - tools.now())",
    tests: testsOf("cli/commands/deadline"),
  },
  {
    name: "sound-record-written",
    promise: "recover writes nothing where nothing is wrong",
    file: "shared/deployments/cli/recover.ts",
    find: "(await isSound(context)) ? sound(key) : await brought(context)",
    replace: "(await isSound(context)) && how.dryRun ? sound(key) : await brought(context)",
    tests: testsOf("engine/recovery/mesos"),
  },
  {
    name: "group-no-kind",
    promise: "a name has its kind with the group, as list -o name prints it",
    file: "shared/inspection/kinds/name.ts",
    find: "return isBare && [",
    replace: "return isBare && suffix === kind && [",
    tests: testsOf("inspection/target"),
  },
  {
    name: "events-of-predecessors",
    promise: "event shows the events of the object that is there",
    file: "shared/inspection/log.ts",
    find: "uid === undefined || aboutUid === undefined || aboutUid === uid",
    replace: "uid === undefined || aboutUid === undefined || aboutUid !== ''",
    tests: testsOf("cli/commands/log"),
  },
  {
    name: "advice-by-phase",
    promise: "the advice for a waiting group follows why it waits",
    file: "shared/inspection/status.ts",
    find: "todo: lastingAdvice(group.why) ?? state.what.todo",
    replace: "todo: state.what.todo",
    tests: testsOf("inspection/admitters"),
  },
  {
    name: "advice-of-wait-by-phase",
    promise: "the advice for a wait follows its cause, not the phase of the job",
    file: "shared/inspection/status.ts",
    find: "todo: lastingAdvice(cause) ?? (",
    replace: "todo: (",
    tests: testsOf("inspection/lasting-waits"),
  },
  {
    name: "spent-resume-untold",
    promise: "status says that a resume would spend the last retry of an aborted job",
    file: "shared/volcano/job/inspection.ts",
    find: 'if (phase !== "Aborted" || !isSpent(job)) return usual;',
    replace: "if (!isSpent(job) || usual !== undefined) return usual;",
    tests: testsOf("inspection/lasting-waits"),
  },
];
