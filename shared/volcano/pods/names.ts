/**
 * Names of a job's pods and other objects. They derive from the job, so that creating one twice creates it once.
 */

import { digest } from "../../core/key.ts";
import { apiVersionOf, type OwnerReference } from "../../core/object.ts";
import { derivedLabel } from "../../kube/names.ts";
import { jobs } from "../schema/resource.ts";
import { nameOf, replicasOf, type Task } from "../schema/spec.ts";

/** The job that owns the objects. */
export type Owner = { readonly name: string; readonly namespace: string; readonly uid: string };

export const podName = (job: string, task: string, index: number): string => `${job}-${task}-${index}`;

export const groupName = ({ name, uid }: Pick<Owner, "name" | "uid">): string => `${name}-${uid}`;

/** Returns the name of the PodGroup of Kubernetes for one version of a job: pods cannot leave their group. */
export const nativeGroupName = (owner: Pick<Owner, "name" | "uid">, version: number): string =>
  `${groupName(owner)}-${version}`;

/** Twelve characters of a digest; upstream takes random ones. */
const lot = (...parts: readonly string[]): string => digest(...parts).slice(0, 12);

/** Returns the name of a pod's volume for a claim. */
export const volumeName = ({ name, uid }: Owner, claim: string): string =>
  derivedLabel(name, lot(uid, "volume", claim));

/** Returns the name of the claim for the job's volume at this index, which describes a claim without naming it. */
export const claimName = ({ name, uid }: Owner, at: number): string => `${name}-pvc-${lot(uid, "claim", `${at}`)}`;

/** True for a name that upstream's controller or Rekindle has generated. */
export const isMadeClaim = (job: string, claim: string): boolean =>
  claim.startsWith(`${job}-pvc-`) && /^[a-z0-9]{12}$/.test(claim.slice(job.length + 5));

export const ownerReference = ({ name, uid }: Owner): OwnerReference => ({
  apiVersion: apiVersionOf(jobs),
  kind: jobs.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

const textIn = (task: Task, field: string): string => {
  const value = task.template?.spec?.[field];
  return typeof value === "string" ? value : "";
};

/** Host name and full name of one pod: `host` is the template's `hostname`, else the pod's name. */
export type Host = { readonly host: string; readonly domain: string };

const hostAt = (job: string, task: Task, index: number): Host => {
  const host = textIn(task, "hostname") || podName(job, nameOf(task), index);
  return { host, domain: `${host}.${textIn(task, "subdomain") || job}` };
};

/** Returns the hosts of a task's pods; a host name in the template makes them one. */
export const hostsOf = (job: string, task: Task): readonly Host[] => {
  const hosts = Array.from({ length: Math.max(0, replicasOf(task)) }, (_, index) => hostAt(job, task, index));
  return textIn(task, "hostname") === "" ? hosts : hosts.slice(0, 1);
};

/** Returns the full name of every pod of a task, also if the pods share one host name. */
export const domainsOf = (job: string, task: Task): readonly string[] =>
  Array.from({ length: Math.max(0, replicasOf(task)) }, (_, index) => hostAt(job, task, index).domain);

/** Returns the full name of a task's first pod, also if the task has no pods. */
export const firstDomain = (job: string, task: Task): string => hostAt(job, task, 0).domain;

/** The name of upstream's scheduler, unless it is configured otherwise. */
export const volcanoScheduler = "volcano";
