/** Invalid and valid objects of Volcano's kinds, and the expected answers of admission. */

const container = { name: "main", image: "busybox" };
const template = { spec: { restartPolicy: "Never", containers: [container] } };
const task = { name: "work", replicas: 2, minAvailable: 1, template };

const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
export const queues = "/apis/scheduling.volcano.sh/v1beta1/queues";
const groups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
const flows = "/apis/flow.volcano.sh/v1alpha1/namespaces/default/jobflows";
const crons = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/cronjobs";
const pods = "/api/v1/namespaces/default/pods";

export type Row = {
  readonly what: string;
  readonly path: string;
  readonly body: object;
  readonly says: RegExp;
  /** Set if only a webhook finds the defect. */
  readonly webhookOnly?: true;
};

export const object = (apiVersion: string, kind: string, name: string, more: object): object => ({
  ...{ apiVersion, kind, metadata: { name } },
  ...more,
});

const job = (what: string, changes: object, says: RegExp, name = "train"): Row => ({
  ...{ what, says, path: jobs },
  body: object("batch.volcano.sh/v1alpha1", "Job", name, { spec: { tasks: [task], ...changes } }),
});

const queue = (what: string, spec: object, says: RegExp, annotations: object = {}): Row => ({
  ...{ what, says, path: queues },
  body: object("scheduling.volcano.sh/v1beta1", "Queue", "q", { metadata: { name: "q", annotations }, spec }),
});

const pod = (what: string, annotations: object, says: RegExp): Row => ({
  ...{ what, says, path: pods },
  body: {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "p", annotations } },
    spec: { ...template.spec, schedulerName: "volcano" },
  },
});

const flow = (what: string, list: readonly object[], says: RegExp): Row => ({
  ...{ what, says, path: flows },
  body: object("flow.volcano.sh/v1alpha1", "JobFlow", "f", { spec: { flows: list } }),
});

const cron = (what: string, changes: object, says: RegExp, name = "nightly"): Row => ({
  ...{ what, says, path: crons },
  body: object("batch.volcano.sh/v1alpha1", "CronJob", name, {
    spec: { schedule: "0 3 * * *", jobTemplate: { spec: { tasks: [task] } }, ...changes },
  }),
});

const restart = { action: "RestartJob" };
const policies = (...list: readonly object[]) => ({ policies: list });
const weighed = (path: string, weights: string) => ({
  "volcano.sh/hierarchy": path,
  "volcano.sh/hierarchy-weights": weights,
});
const after = (name: string, ...names: readonly string[]) => ({ ...task, name, dependsOn: { name: names } });
const then = (name: string, ...targets: readonly string[]) => ({ name, dependsOn: { targets } });

export const refused: readonly Row[] = [
  job("two tasks of one name", { tasks: [task, task] }, /duplicated task name/),
  job(
    "a task's least above its pods",
    { tasks: [{ ...task, minAvailable: 3 }] },
    /'minAvailable' is greater than 'replicas' in task/,
  ),
  job(
    "a job's least above its pods",
    { minAvailable: 3 },
    /job 'minAvailable' should not be greater than total replicas/,
  ),
  job(
    "more pods than a cluster holds",
    { tasks: [{ ...task, replicas: 2_000_000 }] },
    /spec\.tasks ask for 2000000 pods together/,
  ),
  job("names of the last pods too long", { tasks: [{ ...task, replicas: 1_001 }] }, /63 characters/, "n".repeat(55)),
  job(
    "an event and an exit code",
    policies({ event: "PodFailed", exitCode: 3, ...restart }),
    /must not specify event and exitCode simultaneously/,
  ),
  job("neither", policies(restart), /either event and exitCode should be specified/),
  job("exit code 0", policies({ exitCode: 0, ...restart }), /0 is not a valid error code/),
  job("an action that nobody knows", policies({ event: "PodFailed", action: "Panic" }), /invalid policy action/),
  job("an event of ours alone", policies({ event: "OutOfSync", ...restart }), /invalid policy event/),
  job(
    "two for one event",
    policies({ event: "PodFailed", ...restart }, { events: ["PodEvicted", "PodFailed"], ...restart }),
    /duplicate event/,
  ),
  job(
    "two for one exit code",
    policies({ exitCode: 3, ...restart }, { exitCode: 3, action: "AbortJob" }),
    /duplicate exitCode/,
  ),
  job(
    "all events, and one",
    policies({ event: "*", ...restart }, { event: "PodFailed", ...restart }),
    /if there's \* here/,
  ),
  job(
    "a task's policy",
    { tasks: [{ ...task, ...policies(restart) }] },
    /either event and exitCode should be specified/,
  ),
  job(
    "two volumes at one path",
    { volumes: ["a", "b"].map((volumeClaimName) => ({ mountPath: "/x", volumeClaimName })) },
    /duplicated mountPath/,
  ),
  job(
    "a volume of nothing",
    { volumes: [{ mountPath: "/x" }] },
    /either VolumeClaim or VolumeClaimName must be specified/,
  ),
  job("a plugin that nobody has", { plugins: { magic: [] } }, /unable to find job plugin: magic/),
  job("a task after itself", { tasks: [after("a", "a")] }, /directed acyclic graph/),
  job("two tasks after each other", { tasks: [after("a", "b"), after("b", "a")] }, /directed acyclic graph/),
  job("a task after nobody", { tasks: [after("a", "z")] }, /directed acyclic graph/),
  job(
    "two words for one tier",
    { networkTopology: { highestTierAllowed: 1, highestTierName: "rack" } },
    /must not specify 'highestTierAllowed' and 'highestTierName'/,
  ),
  {
    ...job("a ring of three", { tasks: [after("a", "b"), after("b", "c"), after("c", "a")] }, /directed acyclic graph/),
    webhookOnly: true,
  },
  { ...job("a closed queue", { queue: "none" }, /unable to find job queue: .*"none" not found/), webhookOnly: true },
  {
    ...job(
      "an amount beyond all",
      {
        tasks: [
          {
            ...task,
            template: {
              spec: { ...template.spec, containers: [{ ...container, resources: { limits: { cpu: "9999999999E" } } }] },
            },
          },
        ],
      },
      /resources\.limits\.cpu is more than/,
    ),
    webhookOnly: true,
  },
  queue(
    "what is deserved above what is allowed",
    { deserved: { cpu: "2" }, capability: { cpu: "1500m" } },
    /must be <= capability/,
  ),
  queue("what is guaranteed and not deserved", { guarantee: { resource: { cpu: "1" } } }, /must be >= guarantee/),
  queue(
    "what is guaranteed above what is deserved",
    { guarantee: { resource: { cpu: 2 } }, deserved: { cpu: "1" } },
    /must be >= guarantee/,
  ),
  queue("less than nothing", { capability: { cpu: "-1" } }, /must be greater than or equal to 0/),
  queue("a word for an amount", { capability: { cpu: "lots" } }, /spec\.capability/),
  queue("fewer weights than parts", {}, /must have the same length/, weighed("root/a", "1")),
  queue("a weight of 0", {}, /larger than 0/, weighed("root/a", "1/0")),
  {
    what: "a group of two tiers",
    path: groups,
    body: object("scheduling.volcano.sh/v1beta1", "PodGroup", "g", {
      spec: { networkTopology: { highestTierAllowed: 1, highestTierName: "rack" } },
    }),
    says: /must not specify 'highestTierAllowed'/,
  },
  pod("a budget of nobody", { "volcano.sh/jdb-min-available": "0" }, /positive integer/),
  pod("a budget of all", { "volcano.sh/jdb-max-unavailable": "100%" }, /between 1% ~ 99%/),
  pod(
    "two budgets",
    { "volcano.sh/jdb-min-available": "1", "volcano.sh/jdb-max-unavailable": "1" },
    /not allow configure multiple annotations/,
  ),
  flow("a flow after itself", [then("a", "a")], /jobflow Flow is not DAG/),
  flow("flows after each other", [then("a", "b"), then("b", "a")], /jobflow Flow is not DAG/),
  flow("a flow after nobody", [then("a", "z")], /vertex is not defined/),
  cron("a zone in a schedule", { schedule: "TZ=UTC 0 3 * * *" }, /should not contain TZ/),
  cron("no place", { timeZone: "Local" }, /timeZone can't be Local/),
  cron("too long a name", {}, /no more than 52 characters/, "n".repeat(53)),
  { ...cron("no schedule at all", { schedule: "whenever" }, /not a valid cron expression/), webhookOnly: true },
];

/** Valid objects of every kind. */
export const taken: readonly Row[] = [
  job(
    "a job",
    { plugins: { svc: [] }, ...policies({ event: "PodFailed", ...restart }, { exitCode: 3, action: "AbortJob" }) },
    /^$/,
  ),
  job(
    "a job of one event under both fields",
    policies({ event: "PodFailed", events: ["PodFailed"], ...restart }),
    /^$/,
  ),
  job(
    "a job in an order",
    { tasks: [{ ...task, name: "a" }, after("b", "a")], volumes: [{ mountPath: "/x", volumeClaim: {} }] },
    /^$/,
  ),
  queue(
    "a queue",
    { weight: 1, capability: { cpu: 4, memory: "8Gi" }, deserved: { cpu: "2" }, guarantee: { resource: { cpu: "2" } } },
    /^$/,
    weighed("root/a", "1/0.5"),
  ),
  pod("a pod with a budget", { "volcano.sh/jdb-min-available": "30%" }, /^$/),
  flow("a flow", [{ name: "a" }, then("b", "a")], /^$/),
  cron("a cron job", { timeZone: "Europe/Berlin" }, /^$/),
];
