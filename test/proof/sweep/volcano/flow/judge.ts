/**
 * The invariants of a JobFlow, beside those of all kinds that create jobs (`../makers.ts`).
 *
 * F1. A job comes when each dependency has been complete, or has satisfied its probe; it contains its patch.
 * F2. Phases go forward, and an end is final; nothing is created after the end of a flow.
 * F3. A succeeded flow had each of its jobs, and keeps them unless its spec says otherwise; nothing else ends any.
 * F4. A failed job comes again as often as an annotation says, and the flow does not fail before.
 */
import { at, numberAt, textAt } from "../../fields.ts";
import type { Oracle, Subject } from "../../oracle.ts";
import { type Child, type Facts, type Item, jobPhase, openMakerOracle, type Rules } from "../makers.ts";

type Flow = { readonly name: string; readonly targets: readonly string[]; readonly flow: unknown };

const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

const flowsOf = (maker: Item | undefined): readonly Flow[] =>
  listAt(maker, "spec", "flows").map((flow) => ({
    name: textAt(flow, "name") ?? "",
    targets: listAt(flow, "dependsOn", "targets").map(String),
    flow,
  }));

const nameIn = ({ object }: Facts, flow: string): string => `${object?.metadata.name}-${flow}`;

const isDone = (facts: Facts, target: string): boolean => facts.signs.has(`${nameIn(facts, target)} Completed`);

/** The tasks that a probe asks about, of each job that it depends on. */
const wantedBy = (facts: Facts, { targets, flow }: Flow): readonly string[] => {
  const statuses = listAt(flow, "dependsOn", "probe", "taskStatusList");
  return targets
    .filter((target) => !isDone(facts, target))
    .flatMap((target) =>
      statuses.map((one) => `${nameIn(facts, target)} ${textAt(one, "taskName")} ${textAt(one, "phase")}`),
    );
};

const isProbed = ({ flow }: Flow): boolean => at(flow, "dependsOn", "probe") !== undefined;

const early = (facts: Facts, flow: Flow): boolean =>
  isProbed(flow)
    ? wantedBy(facts, flow).some((sign) => !facts.signs.has(sign))
    : flow.targets.some((target) => !isDone(facts, target));

/** Plain fields of a patch that the job lacks. */
const unpatched = (job: Item, { flow }: Flow): readonly string[] =>
  Object.entries(Object(at(flow, "patch", "jobSpec")))
    .filter(([field, value]) => typeof value !== "object" && at(job, "spec", field) !== value)
    .map(([field]) => field);

const order = ["", "Pending", "Running"];

const isOver = (phase: string): boolean => phase === "Succeed" || phase === "Failed";

const retries = ({ object }: Facts): number => Number(object?.metadata.annotations?.["rekindle.dev/job-retries"] ?? 0);

const failures = ({ children }: Facts, name: string): number =>
  [...children.values()].filter((child) => child.name === name && jobPhase(child.object) === "Failed").length;

const mayRetry = (facts: Facts, { name, object }: Child): boolean =>
  jobPhase(object) === "Failed" && failures(facts, name) <= retries(facts);

const born = (facts: Facts, { name, object }: Child): readonly string[] => {
  const flow = flowsOf(facts.object).find((one) => nameIn(facts, one.name) === name);
  if (flow === undefined) return [`F1: job ${name} is of no flow`];
  return [
    ...(early(facts, flow) ? [`F1: job ${name} comes before what it depends on`] : []),
    ...unpatched(object, flow).map((field) => `F1: ${field} of job ${name} is not as patched`),
    ...(failures(facts, name) > retries(facts) ? [`F4: job ${name} comes once too often`] : []),
    ...(isOver(facts.phase) ? [`F2: job ${name} comes when its flow is ${facts.phase}`] : []),
  ];
};

/** Phases of a task that enough of its pods have reached. */
const signs = (job: Item): readonly string[] => {
  const tasks = listAt(job, "spec", "tasks").flatMap((task) => {
    const name = textAt(task, "name") ?? "";
    const least = numberAt(task, "minAvailable") ?? numberAt(task, "replicas") ?? 1;
    const counts = Object.entries(Object(at(job, "status", "taskStatusCount", name, "phase")));
    return counts
      .filter(([, count]) => Number(count) >= least)
      .map(([phase]) => `${job.metadata.name} ${name} ${phase}`);
  });
  return jobPhase(job) === "Completed" ? [`${job.metadata.name} Completed`, ...tasks] : tasks;
};

const removes = ({ object }: Facts): boolean => textAt(object, "spec", "jobRetainPolicy") === "delete";

const rest = (facts: Facts): readonly string[] => {
  const children = [...facts.children.values()];
  // A flow also fails without a failed job: by one that a command has ended, or when all that it owns is cleaned up.
  const failed = children.map(({ name }) => failures(facts, name)).filter((count) => count > 0);
  if (facts.phase === "Failed" && failed.length > 0 && Math.max(...failed) <= retries(facts))
    return ["F4: the flow has failed with a retry left"];
  if (facts.phase !== "Succeed") return [];
  const undone = flowsOf(facts.object).filter(({ name }) => !isDone(facts, name));
  const left = children.filter(({ gone }) => removes(facts) && !gone);
  return [
    ...undone.map(({ name }) => `F3: the flow has succeeded without ${name}`),
    ...left.map(({ name }) => `F3: job ${name} is left`),
  ];
};

const rules: Rules = {
  kind: "JobFlow",
  table: "jobflows.flow.volcano.sh",
  // A template's status names the jobs that were created from it.
  touches: ["jobtemplates.flow.volcano.sh"],
  phaseOf: (flow) => textAt(flow, "status", "state", "phase") ?? "",
  isStopped: () => false,
  moves: (before, after) =>
    before === after || (!isOver(before) && (isOver(after) || order.indexOf(after) > order.indexOf(before))),
  born,
  mayEnd: (facts, child) => (facts.phase === "Succeed" && removes(facts)) || mayRetry(facts, child),
  again: ({ object }) => jobPhase(object) === "Failed",
  signs,
  rest,
};

export const openFlowOracle = (subject: Subject): Oracle => openMakerOracle(rules, subject);
