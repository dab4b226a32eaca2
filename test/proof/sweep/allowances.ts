/** Allowed differences at the end: each names the field, and the reason why no invocation could avoid it. */
import { troubledThrice, twofold } from "./case.ts";
import type { Difference } from "./ending.ts";
import type { Scenario } from "./scenario.ts";

export type Allowance = {
  readonly name: string;
  readonly reason: string;
  readonly allows: (difference: Difference, family: string, scenario: Scenario) => boolean;
};

const isOf = (table: string, { id }: Difference): boolean => id.startsWith(`${table}/`);

/** The object that only one of the two endings has. */
const wholeOf = ({ want, got, path }: Difference): string => (path === "" ? want + got : "");

const isMissing = ({ got, path }: Difference): boolean => path === "" && got === "absent";
const isExtra = ({ want, path }: Difference): boolean => path === "" && want === "absent";

/** An event that only the run with a fault has. */
const isTold = (difference: Difference, part: string): boolean =>
  isOf("events", difference) && isExtra(difference) && difference.got.includes(part);

/** States that a late step may miss. */
const passing = [
  "DriverRunning",
  "DriverUnknown",
  "ApplicationSuspending",
  "ApplicationResuming",
  ...["Pending", "Running", "Completed", "Failed", "Unknown"].map((state) => `Executor${state}`),
].map((end) => `"reason":"Spark${end}"`);

/** Answers after which an event is not tried again. */
const refusals: ReadonlySet<string> = new Set(["409", "409-exists", "404", "404-named", "403", "422"]);

/** Scenarios in which a scale-down or a node's notice ends executors that did not fail. */
const endedOnPurpose: ReadonlySet<string> = new Set(["assist-machine-leaves", "own-machine-leaves"]);

const lasting = /^(outage|read-only|quota)-/;

export const allowances: readonly Allowance[] = [
  {
    name: "what was made for a driver before another controller's was found in its place",
    reason:
      "the driver's name is taken, and it is adopted; what had been made before it is owned, and goes with the run",
    allows: (difference, _, { left }) =>
      left !== undefined &&
      ((isMissing(difference) && (isOf("services", difference) || isOf("configmaps", difference))) ||
        difference.path.startsWith(".status.driverInfo.webUI")),
  },
  {
    name: "an event of a passing phase is told in one run and not in the other",
    reason: "a late step finds the phase passed; what was saved is told, see history.ts",
    allows: (difference) =>
      isOf("events", difference) && passing.some((reason) => wholeOf(difference).includes(reason)),
  },
  {
    name: "an executor that was ended on purpose is shown as failed, or as unknown",
    reason:
      "a pod that is deleted shows its terminal phase for a moment: a step that looks then shows how it ended, as upstream does, and a step that comes later finds no pod",
    allows: ({ path, want, got }, _, { name }) =>
      endedOnPurpose.has(name) &&
      path.startsWith(".status.executorState.") &&
      [want, got].sort().join() === '"FAILED","UNKNOWN"',
  },
  {
    name: "other executors came and went than without faults, where they follow a demand that changes",
    reason:
      "a step that comes late finds a later demand; how many may live, and which may be ended, is judged all the time (E8, E9)",
    allows: ({ id, path }, _, { name }) =>
      name.startsWith("elastic-") &&
      (/\.status\.executorState\./.test(path) ||
        /^\.spec\.memory\.executors\.lost(\.(dismissed|finished))?$/.test(path) ||
        (path === "" && /-exec-/.test(id))),
  },
  {
    name: "the executor that never starts does not come, or waits for another reason",
    reason:
      "a fault costs its id, and executors with other ids start, or a step looks at another moment of the pull; that as many run as are needed is judged (E10), and that a loss is recorded once (E3)",
    allows: ({ id, path }, _, { name }) =>
      name === "elastic-stuck" && (/^\.spec\.memory\.executors\b/.test(path) || id.startsWith("events/")),
  },
  {
    name: "an executor's end that is stored after the end of its run is not counted",
    reason:
      "a webhook beside the bell holds the kubelet's report up for 3 s, and the driver ends meanwhile: its run is over, as if the kubelet had reported so much later",
    allows: ({ path }, family, { belled }) =>
      belled === true && family === "ring-early-3s" && /^\.spec\.memory\.executors\.(lost\.finished|over)$/.test(path),
  },
  {
    name: "a quota that was used up for a moment is told",
    reason: "the fault refuses executors for want of quota, which is no trouble: fewer run, which an event tells",
    allows: (difference, family) =>
      isTold(difference, '"reason":"ExecutorsLimited"') && /^(403|quota-5m|then)/.test(family),
  },
  {
    name: "an executor of a machine that was given up is shown as failed, not as unknown",
    reason:
      "who comes between our last word on its pod, which Spark goes by, and its deletion sees it as failed; who comes after sees nothing",
    allows: ({ path, want, got }, _, { userActions }) =>
      userActions.some(({ do: what }) => what.type === "freeze") &&
      path.startsWith(".status.executorState.") &&
      want === '"UNKNOWN"' &&
      got === '"FAILED"',
  },
  {
    name: "an executor of a machine that is gone counts as deleted, and no other one avoids that machine",
    reason:
      "Kubernetes deletes its pod 40 s later, and a step that died is repeated after 90 s: no pod shows any more what became of it, nor where",
    allows: ({ id, path }, _, { userActions }) =>
      userActions.some(({ do: what }) => what.type === "unplug") &&
      (/^\.spec\.memory\.executors\.(losses\.\d+\.(node|pod|reason|uid|why)|lost\.(deleted|node))$/.test(path) ||
        /^\.status\.executorState\./.test(path) ||
        /^\.spec\.affinity\.nodeAffinity\.(preferred|required)/.test(path) ||
        id.startsWith("events/")),
  },
  {
    name: "an executor has left before the notice of its machine was taken back, or was not yet to leave",
    reason:
      "a step that died is repeated after 90 s, when the executor has been replaced, or when its machine stays; that as many live as are wanted is judged (E2), and that no executor has a notice at the end (E5)",
    allows: ({ id, path }, _, { userActions }) =>
      userActions.some(({ do: what }) => what.type === "staying") &&
      (/^\.spec\.memory\.executors\b/.test(path) ||
        /^\.status\.executorState\./.test(path) ||
        /^\.spec\.affinity\b/.test(path) ||
        (path === "" && /-exec-/.test(id))),
  },
  {
    name: "which pod the driver of an attempt was, that its user deleted before a step saw it",
    reason: "nobody can ask for it any more; that the attempt was, and how it ended, is compared",
    allows: ({ id, path, got }) =>
      id.startsWith("checkpoints.rekindle.dev/") && got === "absent" && /^\.spec\.runs\.\d+\.driver$/.test(path),
  },
  {
    name: "another executor is let go than without faults, when fewer are wanted while all work",
    reason:
      "executors that came late, and under later ids, have nothing to do at other times; as many live (E2), and none of them was at work (E4)",
    allows: ({ id, path, want, got }, family, { name }) =>
      name === "own-fewer-busy" &&
      family === twofold &&
      (/^pods\/default\/pi-\w+-exec-own-[12]$/.test(id) ? path === "" : /^\.status\.executorState\./.test(path)) &&
      ([want, got].includes('"RUNNING"') || ![want, got].some((value) => /^"(FAILED|COMPLETED)"$/.test(value))),
  },
  {
    name: "an event of the last moments of what was deleted",
    reason: "who comes after the deletion finds nothing to tell about",
    allows: (difference, _, { ends }) => ends === "gone" && isOf("events", difference) && difference.path === "",
  },
  {
    name: "a driver's log that the server refuses to give is not kept",
    reason: "403 says that a right is missing, and is not tried again; that an Event tells it is judged by K1",
    allows: ({ id, path, got }, family) =>
      family === "403" && /^checkpoints\.rekindle\.dev\/[^/]+\/logs\./.test(id) && path === "" && got === "absent",
  },
  {
    name: "an event that the server refuses is not told",
    reason: "telling is never in the way of doing: 403, 404, 409 and 422 to an event are not tried again",
    allows: (difference, family) => isOf("events", difference) && isMissing(difference) && refusals.has(family),
  },
  {
    name: "an event is not told by a step whose key has met trouble twice before",
    reason: "telling is never in the way of doing: after two tries a step no longer waits for events",
    allows: (difference, family) => family === troubledThrice && isOf("events", difference) && isMissing(difference),
  },
  {
    name: "what pods share stands again after the job was over",
    reason: "a winner that was slow but within its fence makes it; the job owns it, and it goes with the job",
    allows: (difference, family, { kind }) =>
      kind === "Job" &&
      isExtra(difference) &&
      ["services", "configmaps", "secrets", "networkpolicies.networking.k8s.io"].some((table) =>
        isOf(table, difference),
      ) &&
      /^(late|pause|slow|then)/.test(family),
  },
  {
    name: "a queue that was not found is told, or was there before anybody asked",
    reason:
      "whether a step comes by while it is not there, or one read says so, is chance; what the job waits for is told",
    allows: (difference) => isOf("events", difference) && wholeOf(difference).includes('"reason":"QueueNotFound"'),
  },
  {
    name: "that a CronJob's job is done is not told when nobody saw it at work",
    reason: "who dies is followed by the next one after 90 s, and it never stood among the active ones of the status",
    allows: (difference, _, { kind }) =>
      kind === "CronJob" &&
      isOf("events", difference) &&
      isMissing(difference) &&
      wholeOf(difference).includes('"reason":"SawCompletedJob"'),
  },
  {
    name: "a template does not name a job that went before its step could be taken",
    reason:
      "the step was turned away or died and came back later, and the job had been deleted with its flow: it names what is",
    allows: ({ id, path, got }, family, { kind, ends }) =>
      kind === "JobFlow" &&
      family === twofold &&
      ends === "gone" &&
      id.startsWith("jobtemplates.") &&
      path.startsWith(".status.jobDependsOnList") &&
      got === "absent",
  },
  {
    name: "a template that was not found is told, or was there before anybody asked",
    reason: "one read says so, or no step comes by while it is not there; the flow waits, and goes on when it is",
    allows: (difference, _, { kind }) =>
      kind === "JobFlow" &&
      isOf("events", difference) &&
      wholeOf(difference).includes('"reason":"WaitingForDependency"'),
  },
  {
    name: "that a job's action waits for pods to start is not told when it was due by then",
    reason:
      "who dies before they were seen is followed by the next one after 90 s, and who comes when it is due acts and announces nothing",
    allows: (difference, _, { kind, spec }) =>
      kind === "Job" &&
      JSON.stringify(spec).includes('"PodPending"') &&
      isOf("events", difference) &&
      isMissing(difference) &&
      /Execute action \w+ after \d/.test(difference.id),
  },
  {
    name: "the group that a job leaves behind is not called retired",
    reason:
      "an answer said that it was not there: a job that ends takes it away all the same, one that goes on keeps it",
    allows: ({ path, got }, family, { kind }) =>
      kind === "Job" && path === ".spec.memory.retired" && got === "absent" && family === "404-named",
  },
  {
    name: "a pod says that it came with a later retry",
    reason: "what was in the way of its creation lasted until another pod had failed, and the retry was spent",
    allows: ({ id, path }, family, { kind }) =>
      kind === "Job" &&
      family === twofold &&
      id.startsWith("pods/") &&
      path === ".metadata.annotations.volcano.sh/job-retry-count",
  },
  {
    name: "a record says when its driver was planned, as two saves planned it, or one alone",
    reason:
      "who dies or is refused before the driver was created is followed by a second save that plans it; that none is created late is judged by I1",
    allows: ({ path, want, got }) => path === ".spec.memory.plannedAt" && (want === "absent" || got === "absent"),
  },
  {
    name: "a pod that was gone before a step could save that it was there is created again, and spends no retry",
    reason: "a death or a refusal between the server's answer and the save leaves no trace of the pod: see decision 47",
    allows: (difference, family, { name }) =>
      name === "job-evicted-at-birth" &&
      ["crash-after", "409"].includes(family) &&
      (/\.(retryCount|volcano\.sh\/job-retry-count)$/.test(difference.path) ||
        (isOf("events", difference) && wholeOf(difference).includes("PodEvicted of pod master-0"))),
  },
  {
    name: "a driver whose node went before a step could save that it was there is created again in its attempt",
    reason: "a death between the server's answer and the save leaves no trace of the pod: see decision 47",
    allows: ({ path }, family, { name }) =>
      name === "apache-node-lost" &&
      family === "crash-after" &&
      /^(\.spec\.memory)?\.(run|status\.(current|previous)AttemptSummary)\b/.test(path),
  },
  {
    name: "three groups of which one fits started in another order, and others told that they wait",
    reason:
      "a fault holds up the creation of one job, and the oldest of groups that ask for the same is admitted first; that each starts whole, and alone, is judged all the time",
    allows: (difference, _, { name }) =>
      name === "gang-race" &&
      (/^\.spec\.memory\.hindered$|^\.status\.jobStatusList\.\d\.name$/.test(difference.path) ||
        (isOf("events", difference) && /"reason":"(PodGroupPending|Unschedulable)"/.test(wholeOf(difference)))),
  },
  {
    name: "that a group waits for evicted pods is not told when nobody looked meanwhile",
    reason:
      "who dies is followed by the next one after 90 s, when the pods have ended; that the group starts whole is judged all the time",
    allows: (difference, family, { name }) =>
      name === "gang-preempt" &&
      family === twofold &&
      ((difference.path === ".spec.memory.hindered" && difference.got === "absent") ||
        (isOf("events", difference) &&
          isMissing(difference) &&
          wholeOf(difference).includes('"reason":"PodGroupPending"'))),
  },
  {
    name: "that the server refuses a change of a PodGroup is told",
    reason: "422 is told as upstream tells it; the next step changes it",
    allows: (difference, family, { kind }) =>
      kind === "Job" && family === "422" && isTold(difference, '"reason":"PodGroupError"'),
  },
  {
    name: "pods that a quota refuses are told by another pod's name, or the job ends before their third try",
    reason: "which pods the quota has room for is chance; a lost timer is made up for by a resync, minutes later",
    allows: (difference, _, { name }) =>
      name.includes("job-quota-") &&
      isOf("events", difference) &&
      (isMissing(difference) || isExtra(difference)) &&
      wholeOf(difference).includes("exceeded quota: team"),
  },
  {
    name: "that a quota refuses a job or a run is told once more, or is told by another step",
    reason: "who dies once it has told is followed by one that tells again, under the name of another time",
    allows: (difference, _, { name }) =>
      ["cron-quota", "flow-quota", "schedule-quota"].includes(name) &&
      isOf("events", difference) &&
      (isMissing(difference) || isExtra(difference)) &&
      /exceeded quota: (jobs|runs)/.test(wholeOf(difference)),
  },
  {
    name: "another trouble of a key that has met one already is told at once",
    reason:
      "a quota is in the way of a creation before and after: who is told in between that the kind is not served says so",
    allows: (difference, family, { name }) =>
      ["404", twofold].includes(family) &&
      ["cron-quota", "flow-quota", "schedule-quota"].includes(name) &&
      isTold(difference, "the server does not serve this resource"),
  },
  {
    name: "a name that is taken is not told by steps that create no pods",
    reason: "a quota without room for pods lets them be tried rarely, and the other pod is gone by then",
    allows: (difference, family) =>
      family.startsWith("quota-") &&
      isOf("events", difference) &&
      isMissing(difference) &&
      wholeOf(difference).includes("exists and belongs to another owner"),
  },
  {
    name: "a trouble that lasted is told",
    reason: "people are to see what is in the way: an event of the platform's trouble, once it was met three times",
    allows: (difference, family) =>
      (lasting.test(family) || family === twofold) && isTold(difference, '"type":"Warning"'),
  },
  {
    name: "that no executor ran for a while is told",
    reason: "who dies is followed by the next one after 90 s, and nobody made executors meanwhile: it is true",
    allows: (difference) => isTold(difference, '"reason":"ExecutorsGone"'),
  },
  {
    name: "that a pod does not start is told",
    reason: "a fault holds up what it waits for, or the look that finds it started: past its grace it is true",
    allows: (difference) => isTold(difference, '"reason":"PodNotStarting"'),
  },
  {
    name: "a refusal is told in the words of the last one",
    reason: "a refused create is asked for twice, and this fault refuses the second time in words of its own",
    allows: ({ path }, family) => family === "422" && /\.(message|errorMessage|error)$/.test(path),
  },
  {
    name: "the driver's service stands again after Spark deleted it",
    reason:
      "a winner that was slow but within its fence makes the service of a driver that has ended; it is owned, and goes with the next attempt or the application",
    allows: (difference, family) =>
      isOf("services", difference) && isExtra(difference) && /^(late|pause|slow|two-dispatchers)/.test(family),
  },
  {
    name: "what the driver runs without as well is not there, because the server denied it twice",
    reason:
      "two answers in a row that agree are a lasting reason, and an event tells what the run goes on without; a single wrong one changes nothing",
    allows: (difference, family) =>
      family === twofold && isMissing(difference) && isOf("services", difference) && /-ui-svc\b/.test(difference.id),
  },
  {
    name: "a submission that was refused to one, and to another, who was slower, was not",
    reason:
      "who had the name was deleted meanwhile: the late body is a stray and is ended, and that it was submitted is true",
    allows: (difference, family) => family === twofold && isTold(difference, '"reason":"SparkApplicationSubmitted"'),
  },
  {
    name: "the web UI of a driver that nobody saw run",
    reason:
      "the first step to see the driver sees it ended, and dies between that save and the status: what is dead serves no UI, and nobody asks for its address",
    allows: ({ path, got }, family) =>
      family === twofold && got === "absent" && path.startsWith(".status.driverInfo.webUI"),
  },
  {
    name: "that the pods of a Workload were ready is not told when nobody saw them",
    reason: "who dies is followed by the next one after 90 s, and its driver, which runs for 3 s, has ended",
    allows: ({ id, path, got }, _, { name }) =>
      name === "apache-kueued-kept" &&
      id.startsWith("workloads.") &&
      got === "absent" &&
      path.startsWith(".status.conditions.PodsReady."),
  },
  {
    name: "what Kueue grants is told in other steps than without faults",
    reason:
      "how many executors leave at a time, and when a step sees a grant, depends on when it comes; what is granted is judged by G1, G2 and G4",
    allows: (difference) =>
      isOf("events", difference) &&
      difference.path === "" &&
      /: (Kueue has granted|the grant of) \d/.test(difference.id),
  },
];
