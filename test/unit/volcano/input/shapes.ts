/** Bad shapes, numbers, names and task dependencies. */
import { good, job, ofTask, type Row, task } from "./row.ts";

const whole = (name: string, spec: unknown, says: RegExp): Row => ({ name, spec, says });

const called = (name: string, named: string, says: RegExp, spec: unknown = good): Row => ({
  ...{ name, spec, says },
  job: named,
});

const deep: unknown = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
const wide: unknown = Array.from({ length: 60_000 }, () => "x");

const after = (name: string, ...names: readonly string[]) => ({ ...task, name, dependsOn: { name: names } });

export const shapes: readonly Row[] = [
  whole("no spec", undefined, /^No task specified in job spec$/),
  whole("a list for a spec", [], /^spec must be an object, not an array/),
  whole("a text for a spec", "run", /^spec must be an object, not a string/),
  whole("5,000 objects within each other", { ...good, deep }, /^spec holds more than 50,000 values/),
  whole("60,000 values", { ...good, wide }, /^spec holds more than 50,000 values/),
  job("no tasks", { tasks: [] }, /^No task specified in job spec$/),
  job("tasks by name", { tasks: { work: task } }, /^spec\.tasks must be an array, not an object/),
  job("a text for a task", { tasks: ["work"] }, /^spec\.tasks\[0\] must be an object, not a string/),
  ofTask("negative replicas", { replicas: -1 }, /^spec\.tasks\[0\]\.replicas must be at least 0, not -1/),
  ofTask("half a pod", { replicas: 0.5 }, /^spec\.tasks\[0\]\.replicas must be/),
  ofTask("replicas as a text", { replicas: "2" }, /^spec\.tasks\[0\]\.replicas must be a number, not a string/),
  ofTask("replicas beyond 32 bits", { replicas: 1e12 }, /^spec\.tasks\[0\]\.replicas/),
  ofTask(
    "more pods than a cluster holds",
    { replicas: 2_000_000_000 },
    /^spec\.tasks ask for 2000000000 pods together/,
  ),
  job(
    "more pods of two tasks",
    { tasks: ["a", "b"].map((name) => ({ ...task, name, replicas: 15_000 })) },
    /at most 20000/,
  ),
  ofTask("a negative least", { minAvailable: -1 }, /^spec\.tasks\[0\]\.minAvailable must be at least 0/),
  ofTask(
    "a least above replicas",
    { minAvailable: 3 },
    /'minAvailable' is greater than 'replicas' in task: work, job: /,
  ),
  job("a job's negative least", { minAvailable: -1 }, /^spec\.minAvailable must be at least 0/),
  job(
    "a job's least above its pods",
    { minAvailable: 3 },
    /^job 'minAvailable' should not be greater than total replicas/,
  ),
  job("negative retries", { maxRetry: -1 }, /^spec\.maxRetry must be at least 0/),
  job("a negative success", { minSuccess: -1 }, /^spec\.minSuccess must be at least 0/),
  job("a negative time to live", { ttlSecondsAfterFinished: -1 }, /^spec\.ttlSecondsAfterFinished must be at least 0/),
  job("two tasks of one name", { tasks: [task, task] }, /^duplicated task name work/),
  job(
    "two tasks without a name, and one of theirs",
    {
      tasks: [
        { ...task, name: "" },
        { ...task, name: "default0" },
      ],
    },
    /^duplicated task name default0/,
  ),
  called("names too long for pods", "n".repeat(60), /must be no more than 63 characters/),
  called(
    "names of the last pods too long",
    "n".repeat(55),
    /^spec\.tasks\[0\]\.name makes pods of more than 63 characters/,
    {
      tasks: [{ ...task, replicas: 1_001 }],
    },
  ),
  called("a name that is no label's", "-train", /create job with name -train validate failed/),
  ofTask("a task's name that is no pod's", { name: "a/b" }, /create pod with name \S+-a\/b-0 validate failed/),
  job("a task after itself", { tasks: [after("a", "a")] }, /doesn't form a directed acyclic graph/),
  job("a ring of two", { tasks: [after("a", "b"), after("b", "a")] }, /doesn't form a directed acyclic graph/),
  job(
    "a ring of three",
    { tasks: [after("a", "b"), after("b", "c"), after("c", "a")] },
    /doesn't form a directed acyclic graph/,
  ),
  job("a task after one that is not", { tasks: [after("a", "nobody")] }, /doesn't form a directed acyclic graph/),
  ofTask(
    "names of tasks as one text",
    { dependsOn: { name: "a" } },
    /^spec\.tasks\[0\]\.dependsOn\.name must be an array/,
  ),
];
