/** Compares pods, plugins and PodGroups with those that upstream's code was recorded to make. */
import { withoutNulls } from "../../../../shared/core/json.ts";
import { plugins } from "../../../../shared/volcano/plugins/all.ts";
import { isPlugin, type Scope } from "../../../../shared/volcano/plugins/plugin.ts";
import { minResources } from "../../../../shared/volcano/podgroup/group.ts";
import { type PodInput, podDraft } from "../../../../shared/volcano/pods/pod.ts";
import { keys } from "../../../../shared/volcano/schema/resource.ts";
import { nameOf, type Task, tasksOf } from "../../../../shared/volcano/schema/spec.ts";
import { type Difference, differences, type Json } from "../compare.ts";
import { specOf } from "./judged.ts";
import { plainOf } from "./normal.ts";
import { listIn, numberIn, recordIn, textIn } from "./rows.ts";

const strings = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(value ?? {}).map(([name, text]) => [name, `${text}`]));

export const ownerOf = (job: Json): PodInput["owner"] => {
  const metadata = recordIn(job, "metadata");
  return {
    name: textIn(metadata, "name"),
    namespace: textIn(metadata, "namespace"),
    uid: textIn(metadata, "uid"),
  };
};

export const makingOf = (job: Json): PodInput => {
  const metadata = recordIn(job, "metadata");
  const status = recordIn(job, "status");
  return {
    owner: ownerOf(job),
    spec: specOf(job),
    labels: strings(metadata["labels"]),
    annotations: strings(metadata["annotations"]),
    version: numberIn(status, "version"),
    retryCount: numberIn(status, "retryCount"),
    forwarding: false,
  };
};

const oneTask = (task: Json): Task | undefined => tasksOf(specOf({ spec: { tasks: [withoutNulls(task)] } }))[0];

/**
 * Compares a pod. The task has the template's name, as in upstream's controller; only the pod's label shows whether
 * forwarding is on.
 */
export const podMade = (row: Json): readonly Difference[] => {
  const template = recordIn(row, "template");
  const { name: _, ...task } = recordIn(row, "task");
  const whole = oneTask({ ...task, name: textIn(recordIn(template, "metadata"), "name"), template });
  if (whole === undefined) throw new Error("a row without a task");
  const labels = recordIn(recordIn(recordIn(row, "pod"), "metadata"), "labels");
  const forwarding = labels[keys.forwarding] === "true";
  const draft = podDraft({ ...makingOf(recordIn(row, "job")), forwarding }, whole, numberIn(row, "index"));
  return differences(plainOf(draft), plainOf(row["pod"]));
};

/**
 * Returns a plugin's arguments. Rows of one plugin lack the flags that upstream's test set in the object; the task's
 * name implies them.
 */
const argsOf = (row: Json, tasks: readonly Task[]): readonly string[] => {
  const { args } = row;
  if (Array.isArray(args)) return args.map(String);
  const custom = tasks.map(nameOf).find((name) => /^custom-master$/.test(name));
  return custom === undefined ? [] : ["--master=custom-master", "--worker=custom-worker"];
};

export const podChanged = (row: Json): readonly Difference[] => {
  const job = recordIn(row, "job");
  const before = recordIn(row, "podBefore");
  const name = textIn(row, "plugin");
  if (!isPlugin(name)) throw new Error(`no plugin ${name}`);
  const tasks = tasksOf(specOf(job));
  const scope: Scope = { owner: ownerOf(job), tasks };
  const metadata = recordIn(before, "metadata");
  const draft = {
    ...before,
    metadata: {
      ...metadata,
      name: textIn(metadata, "name"),
      labels: strings(metadata["labels"]),
      annotations: strings(metadata["annotations"]),
      ownerReferences: [],
    },
    spec: recordIn(before, "spec"),
  };
  const args = argsOf(row, tasks);
  const refused = plugins[name].refuses?.(scope, args) ?? "";
  const pod = refused === "" ? plugins[name].onPod(draft, scope, args) : before;
  const owned = { ...pod, metadata: { ...recordIn(pod, "metadata"), ownerReferences: metadata["ownerReferences"] } };
  return differences(
    plainOf({ error: refused, pod: owned }),
    plainOf({ error: textIn(row, "error"), pod: row["podAfter"] }),
  );
};

export const resourcesNeeded = (row: Json): readonly Difference[] => {
  const tasks = listIn(row, "tasks").flatMap((ranked) => {
    const task = oneTask(recordIn(ranked, "task"));
    return task === undefined ? [] : [{ task, priority: numberIn(ranked, "priority") }];
  });
  const ours = minResources(tasks, numberIn(row, "jobMinAvailable"));
  return differences(plainOf({ minResources: ours }), plainOf({ minResources: row["minResources"] }));
};
