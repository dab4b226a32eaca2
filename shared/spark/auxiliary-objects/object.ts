/** The shape of auxiliary objects: the run that owns one, its metadata, and whether the run can do without it. */

import { apiVersionOf, attemptLabel, type Metadata, type Obj, type Resource } from "../../core/object.ts";
import { appUidLabel } from "../../kube/pods.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { appNameLabel } from "../schema/pod-query.ts";
import { reference } from "../submission/additions.ts";
import type { Options } from "./options.ts";

export type Subject = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly attempt: number;
  readonly spec: SparkApplicationSpec;
  readonly submissionId: string;
  readonly applicationId: string;
  readonly driverPodName: string;
  readonly options: Options;
};

export type AuxiliaryObject = {
  readonly resource: Resource;
  readonly object: Obj;
  /** The driver runs without it as well: a refusal is reported, and the step goes on. */
  readonly optional: boolean;
};

type Texts = Readonly<Record<string, string>>;

type Given = { readonly name: string; readonly labels?: Texts | undefined; readonly annotations?: Texts | undefined };

/** Metadata with upstream's labels and owner, and the labels by which an attempt's objects are found and told apart. */
export const metadataOf = ({ name, namespace, uid, attempt, submissionId }: Subject, given: Given): Metadata => ({
  name: given.name,
  namespace,
  labels: {
    [appNameLabel]: name,
    "sparkoperator.k8s.io/submission-id": submissionId,
    ...given.labels,
    [appUidLabel]: uid,
    [attemptLabel]: `${attempt}`,
  },
  ...(Object.keys(given.annotations ?? {}).length === 0 ? {} : { annotations: { ...given.annotations } }),
  ownerReferences: [{ ...reference({ name, namespace, uid }), controller: true, blockOwnerDeletion: true }],
});

export const objectOf = (resource: Resource, metadata: Metadata, spec: unknown): Obj => ({
  apiVersion: apiVersionOf(resource),
  kind: resource.kind,
  metadata,
  spec,
});

/** The selector of a run's driver pod. */
export const driverSelector = (name: string): Texts => ({ [appNameLabel]: name, "spark-role": "driver" });
