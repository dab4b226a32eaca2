/** Bad policies, plugins, placement and volumes. */
import { job, ofTask, type Row } from "./row.ts";

const policies = (name: string, list: readonly object[], says: RegExp): readonly Row[] => [
  job(`${name}, of the job`, { policies: list }, says),
  ofTask(`${name}, of a task`, { policies: list }, says),
];

const restart = { action: "RestartJob" };

const ofPolicies: readonly Row[] = [
  ...policies(
    "an unknown event",
    [{ event: "PodBored", ...restart }],
    /Invalid value: "PodBored": invalid policy event/,
  ),
  ...policies(
    "an unknown action",
    [{ event: "PodFailed", action: "Panic" }],
    /Invalid value: "Panic": invalid policy action/,
  ),
  ...policies(
    "an event and an exit code",
    [{ event: "PodFailed", exitCode: 3, ...restart }],
    /must not specify event and exitCode simultaneously/,
  ),
  ...policies("neither event nor exit code", [restart], /either event and exitCode should be specified/),
  ...policies("exit code 0", [{ exitCode: 0, ...restart }], /0 is not a valid error code/),
  ...policies(
    "two for one exit code",
    [
      { exitCode: 3, ...restart },
      { exitCode: 3, action: "AbortJob" },
    ],
    /duplicate exitCode 3/,
  ),
  ...policies(
    "two for one event",
    [
      { event: "PodFailed", ...restart },
      { events: ["PodFailed"], action: "AbortJob" },
    ],
    /duplicate event PodFailed/,
  ),
  ...policies(
    "all events, and one",
    [
      { event: "*", ...restart },
      { event: "PodFailed", ...restart },
    ],
    /if there's \* here, no other policy/,
  ),
  ...policies(
    "an invalid time",
    [{ event: "PodFailed", ...restart, timeout: "soon" }],
    /policies\[0\]\.timeout must be a duration/,
  ),
  ...policies(
    "a negative time",
    [{ event: "PodFailed", ...restart, timeout: "-5s" }],
    /policies\[0\]\.timeout must be a duration/,
  ),
];

const tiers = { highestTierAllowed: 1, highestTierName: "rack" };

const others: readonly Row[] = [
  job("a plugin that nobody has", { plugins: { magic: [] } }, /^unable to find job plugin: magic/),
  job(
    "a plugin called as objects are made",
    { plugins: { constructor: [] } },
    /^unable to find job plugin: constructor/,
  ),
  job("flags as one text", { plugins: { svc: "--quick" } }, /^spec\.plugins\.svc must be an array, not a string/),
  job("mpi without its master", { plugins: { mpi: [] } }, /^The specified mpi master task was not found$/),
  job(
    "two words for one tier",
    { networkTopology: tiers },
    /^must not specify 'highestTierAllowed' and 'highestTierName'/,
  ),
  ofTask(
    "partitions of nothing",
    { partitionPolicy: { totalPartitions: 0, partitionSize: 1 } },
    /'TotalPartitions' must be greater than 0 in task: work/,
  ),
  ofTask(
    "partitions that do not add up",
    { partitionPolicy: { totalPartitions: 2, partitionSize: 2 } },
    /'Replicas' are not equal to TotalPartitions\*PartitionSize/,
  ),
  ofTask(
    "NUMA placement without whole CPUs",
    { topologyPolicy: "restricted" },
    /spec\.task\[0\] isn't Guaranteed pod, kind=BestEffort/,
  ),
  job("a volume without a path", { volumes: [{}] }, /^mountPath is required/),
  job(
    "two volumes at one path",
    { volumes: ["a", "b"].map((volumeClaimName) => ({ mountPath: "/x", volumeClaimName })) },
    /^duplicated mountPath: \/x/,
  ),
  job(
    "a volume of nothing",
    { volumes: [{ mountPath: "/x" }] },
    /^either VolumeClaim or VolumeClaimName must be specified/,
  ),
  job(
    "a volume of both",
    { volumes: [{ mountPath: "/x", volumeClaim: {}, volumeClaimName: "mine" }] },
    /^conflict: If you want to use an existing PVC/,
  ),
  job(
    "a claim that is no name",
    { volumes: [{ mountPath: "/x", volumeClaimName: "Mine_" }] },
    /^invalid VolumeClaimName Mine_ /,
  ),
];

export const rules: readonly Row[] = [...ofPolicies, ...others];
