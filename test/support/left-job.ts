/** A Volcano job as upstream's controllers leave it: pods, group and plugins' objects, without Rekindle's marks. */
import type { Obj, Stored } from "../../shared/core/object.ts";
import { objectsOf, onPod } from "../../shared/volcano/plugins/all.ts";
import { podGroup } from "../../shared/volcano/podgroup/group.ts";
import { podDraft } from "../../shared/volcano/pods/pod.ts";
import { replicasOf, tasksOf } from "../../shared/volcano/schema/spec.ts";
import { parseSpec } from "../../shared/volcano/validation/parse.ts";

export type LeftJob = {
  /** One per ordinal, in the order of the tasks. */
  readonly pods: readonly Obj[];
  readonly group: Obj;
  /** Service, config map, secret and network policy of its plugins. */
  readonly shared: readonly Obj[];
};

type Standing = {
  readonly version?: number;
  readonly retryCount?: number;
  /** The group has the job's name alone, as in upstream's earlier versions. */
  readonly legacy?: boolean;
};

/** The objects of a stored job that upstream's webhook has completed. */
export const leftOf = (job: Stored, { version = 0, retryCount = 0, legacy = false }: Standing = {}): LeftJob => {
  const read = parseSpec(job.metadata.name, job["spec"]);
  if (!read.ok) throw new Error(read.message);
  const { spec } = read;
  const { name, namespace = "default", uid } = job.metadata;
  const owner = { name, namespace, uid };
  const group = legacy ? { group: name } : {};
  const making = { owner, spec, labels: {}, annotations: {}, version, retryCount, forwarding: false, ...group };
  const scope = { owner, tasks: tasksOf(spec) };
  const pods = tasksOf(spec).flatMap((task) =>
    Array.from({ length: replicasOf(task) }, (_, index): Obj => {
      const draft = onPod(podDraft(making, task, index), scope, spec.plugins);
      return { apiVersion: "v1", kind: "Pod", ...draft };
    }),
  );
  const made = podGroup(making, new Map());
  return {
    pods,
    group: legacy ? { ...made, metadata: { ...made.metadata, name } } : made,
    shared: objectsOf(scope, spec.plugins).map(({ object }) => object),
  };
};

/** The job as it is stored after upstream's webhook. */
export const completed = (job: Obj): Obj => {
  const read = parseSpec(job.metadata.name, job["spec"]);
  if (!read.ok) throw new Error(read.message);
  return { ...job, spec: read.spec };
};
