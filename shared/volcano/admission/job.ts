/** Admission of a job: reconcile's defaults and rules, applied earlier, and upstream's rules for changes. */

import { fieldsOf, isRecord, isTooMuch, omit, same, withoutNulls } from "../../core/json.ts";
import { type AdmittedObject, additions, type PatchOperation, type RequestedName } from "../../kube/admission.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { readCronSpec } from "../cron/read.ts";
import { readFlowSpec } from "../flow/read.ts";
import { retriesOf } from "../flow/retries.ts";
import { pluginProblems, refusedBy } from "../plugins/all.ts";
import {
  formsDag,
  type JobSpec,
  nameOf,
  replicasOf,
  specSchema,
  type Task,
  tasksOf,
  totalReplicas,
} from "../schema/spec.ts";
import { flowSpecSchema } from "../schema/workflows.ts";
import { defaulted, parseSpec, type QueueCheck } from "../validation/parse.ts";

const fixed =
  "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and `PriorityClassName`";

const free = (task: Task): object => omit(task, "replicas", "minAvailable");

/** Returns the fields that may not change. Names of claims that the controller generated are left out. */
const settled = ({ tasks, volumes, ...spec }: JobSpec): object => ({
  ...omit(spec, "minAvailable", "priorityClassName"),
  tasks: (tasks ?? []).map(free),
  volumes: (volumes ?? []).map(({ volumeClaimName, ...volume }) =>
    volume.volumeClaim === undefined ? { ...volume, volumeClaimName } : volume,
  ),
});

const least = (spec: JobSpec): string | undefined => {
  const over = tasksOf(spec).find((task) => task.minAvailable !== undefined && task.minAvailable > replicasOf(task));
  if (over !== undefined) return `'minAvailable' must be <= 'replicas' in task: ${nameOf(over)}`;
  return (spec.minAvailable ?? 0) > totalReplicas(spec)
    ? "job 'minAvailable' must not be greater than total replicas"
    : undefined;
};

/** Returns why the change is refused; empty if it may be made. */
const changeSaying = (before: JobSpec, after: JobSpec): string => {
  const wrong = least(after);
  if (wrong !== undefined) return wrong;
  if (tasksOf(before).length !== tasksOf(after).length) return "job updates may not add or remove tasks";
  return same(settled(before), settled(after)) ? "" : fixed;
};

/** Returns the defaults as a patch; a spec that cannot be read is left to the validation. */
export const jobPatch = ({ spec }: AdmittedObject): readonly PatchOperation[] => {
  const parsed = specSchema.safeParse(withoutNulls(spec));
  return parsed.success ? additions(spec, defaulted(parsed.data), "/spec") : [];
};

/** Returns why a new job is refused; empty if it may be stored. */
export const newJobSaying = (name: string, spec: unknown, queueSaying?: QueueCheck): string => {
  const read = parseSpec(name, spec, queueSaying);
  return read.ok ? "" : read.message;
};

/** Returns warnings about plugins of a job that is stored: what reconcile tells of them later. */
export const jobWarnings = (name: string, given: unknown): readonly string[] => {
  const read = typed(given);
  if (read === undefined) return [];
  const spec = defaulted(read);
  const scope = { owner: { name, namespace: "", uid: "" }, tasks: tasksOf(spec) };
  const refusal = refusedBy(scope, spec.plugins);
  return [
    ...(refusal === undefined ? [] : [`no pod of it will be created: ${refusal}`]),
    ...pluginProblems(scope, spec.plugins).map(({ message }) => message),
  ];
};

const typed = (spec: unknown): JobSpec | undefined =>
  isTooMuch(spec) ? undefined : specSchema.safeParse(withoutNulls(spec)).data;

/** Returns why a change is refused. A job that was stored with errors may be corrected, field by field or whole. */
export const changedJobSaying = (name: string, before: unknown, after: unknown): string => {
  const [old, next] = [typed(before), typed(after)];
  const change = old === undefined || next === undefined ? undefined : changeSaying(old, next);
  const own = newJobSaying(name, after);
  if (newJobSaying(name, before) !== "") return change === "" ? "" : own;
  return change === undefined || change === "" ? own : change;
};

/** Returns warnings about the jobs of a template. Upstream finds these problems only when it creates a job. */
export const templateWarnings = (name: string, template: unknown, queueSaying?: QueueCheck): readonly string[] => {
  const spec = isRecord(template) ? template["spec"] : undefined;
  const saying = newJobSaying(name, spec, queueSaying);
  return saying === ""
    ? jobWarnings(name, spec).map((text) => `of its jobs ${text}`)
    : [`its jobs will be refused: ${saying}`];
};

/** Returns warnings about a spec that upstream stores and that reconcile reports later. */
export const cronWarnings = (
  { name, namespace }: RequestedName,
  spec: unknown,
  queueSaying?: QueueCheck,
): readonly string[] => {
  const metadata = { name, namespace, uid: "", resourceVersion: "" };
  const read = readCronSpec({ apiVersion: "", kind: "CronJob", metadata, spec });
  const template = isRecord(spec) ? spec["jobTemplate"] : undefined;
  return read.ok ? templateWarnings(`${name}-00000000`, template, queueSaying) : [`it will not run: ${read.message}`];
};

const notDag = "jobflow Flow is not DAG";

/** Returns why the flow is refused; empty if it may be stored. */
export const flowSaying = (spec: unknown): string => {
  const parsed = flowSpecSchema.safeParse(withoutNulls(spec ?? {}), reportingInput);
  if (!parsed.success) return explain(parsed.error);
  const { flows = [] } = parsed.data;
  const names = new Set(flows.map(({ name }) => name));
  for (const { name, dependsOn } of flows) {
    for (const target of dependsOn?.targets ?? []) {
      if (target === name) return `${notDag}: flow '${name}' has self-dependency`;
      if (!names.has(target)) return `${notDag}: vertex is not defined: ${target}`;
    }
  }
  const tasks = flows.map(({ name, dependsOn }) => ({ name, dependsOn: { name: dependsOn?.targets ?? [] } }));
  return formsDag(tasks) ? "" : notDag;
};

/** Returns warnings about a spec that upstream stores and that reconcile reports later. */
export const flowWarnings = ({ name, namespace }: RequestedName, object: AdmittedObject): readonly string[] => {
  const annotations = Object.fromEntries(
    Object.entries(fieldsOf(object.metadata["annotations"])).map(([key, value]) => [key, String(value)]),
  );
  const metadata = { name, namespace, uid: "", resourceVersion: "", annotations };
  const flow = { apiVersion: "", kind: "JobFlow", metadata, spec: object.spec };
  const read = readFlowSpec(flow);
  const { problem } = retriesOf(flow);
  return [...(read.ok ? [] : [`it will not run: ${read.message}`]), ...(problem === undefined ? [] : [problem])];
};
