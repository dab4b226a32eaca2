/** Limits on length, number and size of fields of Volcano's kinds: at least ten times upstream's largest example. */
import { below, type Limit, limitsOf } from "../../kube/limits.ts";

const names = { characters: 253, why: "no object has a longer name" };
const policies = { entries: 100, why: "each event of each pod is compared with every policy" };
const probes = { entries: 100, why: "one step sends all of them" };

const ofPolicies = (field: string): readonly Limit[] => [
  { field, ...policies },
  { field: `${field}.*.events`, entries: 50, why: "Volcano defines fewer events" },
  { field: `${field}.*.timeout`, characters: 64, why: "a duration is a few numbers and units" },
];

const jobRows: readonly Limit[] = [
  { field: "tasks", entries: 1_000, why: "every pod of a job lists every task" },
  { field: "tasks.*.name", ...names },
  { field: "tasks.*.dependsOn.name", entries: 1_000, why: "a job has at most so many tasks" },
  ...ofPolicies("tasks.*.policies"),
  ...ofPolicies("policies"),
  { field: "queue", ...names },
  { field: "schedulerName", ...names },
  { field: "priorityClassName", ...names },
  { field: "volumes", entries: 500, why: "no node mounts so many volumes into a pod" },
  { field: "volumes.*.mountPath", characters: 4_096, why: "no file system takes a longer path" },
  { field: "volumes.*.volumeClaimName", ...names },
  { field: "plugins", entries: 20, why: "Volcano has fewer plugins" },
  { field: "plugins.*", entries: 100, why: "no plugin has so many flags" },
  { field: "plugins.*.*", characters: 16_384, why: "the longest value is a pair of keys for ssh" },
];

const cronRows: readonly Limit[] = [
  { field: "schedule", characters: 256, why: "a schedule is five fields or one word" },
  { field: "timeZone", characters: 64, why: "no time zone has a longer name" },
  ...below("jobTemplate.spec", jobRows),
];

const flowRows: readonly Limit[] = [
  { field: "flows", entries: 1_000, why: "each makes a Job, and one step reads all of them" },
  { field: "flows.*.name", ...names },
  { field: "flows.*.dependsOn.targets", entries: 1_000, why: "a JobFlow has at most so many flows" },
  ...["httpGetList", "tcpSocketList", "taskStatusList"].map((list) => ({
    field: `flows.*.dependsOn.probe.${list}`,
    ...probes,
  })),
  { field: "flows.*.dependsOn.probe.httpGetList.*.path", characters: 8_192, why: "no server takes a longer address" },
  ...below("flows.*.patch.jobSpec", jobRows),
];

/** Checks the spec of a Job or a JobTemplate against its limits. */
export const jobLimits = limitsOf(jobRows);

/** Checks the spec of a CronJob against its limits. */
export const cronLimits = limitsOf(cronRows);

/** Checks the spec of a JobFlow against its limits. */
export const flowLimits = limitsOf(flowRows);

/** Checks the spec of another kind against the limits of any object. */
export const otherLimits = limitsOf([]);
