/** A run as kubeflow's operator leaves it: its `spark-submit`'s objects, without Rekindle's marks, and its status. */

import type { Obj, Stored } from "../../shared/core/object.ts";
import { parseSpec } from "../../shared/spark/schema/rules.ts";
import { submit } from "../../shared/spark/submission/submit.ts";

export type Left = {
  readonly submissionId: string;
  readonly driver: Obj;
  /** Made after the driver pod, owned by it. */
  readonly others: (driver: Stored) => readonly Obj[];
  /** The status that the operator writes in this state. */
  readonly status: (state: string) => Record<string, unknown>;
};

const isOurs = ([key]: readonly [string, unknown]): boolean => !key.startsWith("rekindle.dev/");

/** The object without Rekindle's marks, under the submission id that upstream drew. */
const asTheirs = (object: Obj, ours: string, theirs: string): Obj => {
  const { labels = {}, ...metadata } = object.metadata;
  const kept = {
    ...object,
    metadata: { ...metadata, labels: Object.fromEntries(Object.entries(labels).filter(isOurs)) },
  };
  const template = /\\?"rekindle\.dev\/(app-uid|attempt)\\?":\\?"[^"\\]*\\?",?/g;
  return JSON.parse(JSON.stringify(kept).replaceAll(ours, theirs).replaceAll(template, ""));
};

/** `submittedAt` in epoch ms. The caller sets the status of the pods, as a kubelet would. */
export const leftBy = (application: Stored, submissionId: string, submittedAt: number): Left => {
  const read = parseSpec(application);
  if (!read.ok) throw new Error(read.message);
  const { name, namespace = "default", uid } = application.metadata;
  const apiServer = "https://kubernetes.default.svc";
  const made = submit({ app: { name, namespace, uid }, spec: read.spec, attempt: 1, submittedAt, apiServer });
  if ("refused" in made) throw new Error(made.refused);
  const theirs = (object: Obj): Obj => asTheirs(object, made.submissionId, submissionId);
  return {
    submissionId,
    driver: theirs(made.driver),
    others: ({ metadata }) =>
      made.before.map(theirs).map((object) => ({
        ...object,
        metadata: {
          ...object.metadata,
          ownerReferences: [
            { apiVersion: "v1", kind: "Pod", name: metadata.name, uid: metadata.uid, controller: true },
          ],
        },
      })),
    status: (state) => ({
      applicationState: { state },
      driverInfo: {
        ...{ podName: made.driverPodName, webUIServiceName: `${name}-ui-svc` },
        ...{ webUIPort: 4040, webUIAddress: "10.0.0.99:4040" },
      },
      sparkApplicationId: made.applicationId,
      submissionID: submissionId,
      lastSubmissionAttemptTime: new Date(submittedAt).toISOString().replace(/\.\d+Z$/, "Z"),
      terminationTime: null,
      submissionAttempts: 1,
      executionAttempts: 1,
    }),
  };
};
