/**
 * The two directions in which a running application moves between `sparkoperator.k8s.io` and `spark.apache.org`: its
 * translation with everything that stands in the way, the status that the other API's controller continues from, and the
 * marks by which it finds the objects of the run. Pure.
 */
import { fieldsOf, recordsIn } from "../../../core/json.ts";
import { attemptLabel, type Obj, type OwnerReference, type Resource, type Stored } from "../../../core/object.ts";
import type { Direction, Translated } from "../../../kube/api-move.ts";
import { localQueueOf } from "../../../kube/kueue.ts";
import { appUidLabel, isEnding, podStatus } from "../../../kube/pods.ts";
import { driverContainer, submissionLabel } from "../../application/state/evidence.ts";
import { defaultOptions } from "../../auxiliary-objects/options.ts";
import { isOwn } from "../../executors/owner.ts";
import { appNameLabel, ownerAnnotation } from "../../schema/pod-query.ts";
import { sparkApplications } from "../../schema/resource.ts";
import { parseSpec } from "../../schema/rules.ts";
import { submit } from "../../submission/submit.ts";
import { apacheApplications, nameLabel, upstreamFinalizer } from "../resource.ts";
import { readApache, unservedIn } from "../spec/read.ts";
import { recordIn } from "../status/record.ts";
import { groupOf, isSummary } from "../status/summary.ts";
import { submitApache } from "../submission.ts";
import { uncarried } from "./carried.ts";
import { type Attempt, compared } from "./compared.ts";
import { apacheState, apacheStatus, kubeflowState, kubeflowStatus, submissionOf } from "./handed-status.ts";
import { toApache } from "./to-apache.ts";
import { toKubeflow } from "./to-kubeflow.ts";

const launched = "sparkoperator.k8s.io/launched-by-spark-operator";
const operatorLabel = "spark.operator/name";

/** Annotations that both APIs read alike. */
const common: readonly string[] = [
  ...["updates-to", "record-until", "node-grace", "unreachable-executors", "executors"].map(
    (name) => `rekindle.dev/${name}`,
  ),
  ...["executor-pending-timeout", "executor-pending-timeout-max"].map((name) => `rekindle.dev/${name}`),
  ...uncarried,
];

const refused = (message: string): Translated => ({ object: undefined, differs: [], blocks: [message] });

const annotationsIn = ({ metadata: { annotations = {} } }: Stored, { group }: Resource): readonly string[] =>
  Object.keys(annotations)
    .filter((key) => key.startsWith("rekindle.dev/") && !common.includes(key))
    .map(
      (key) => `metadata.annotations[${key}] is for applications of ${group}: remove it, if the run may go without it`,
    );

/** Returns the obstacles that do not depend on the direction. */
const boundTo = (object: Stored, from: Resource): readonly string[] => {
  const [owner] = object.metadata.ownerReferences ?? [];
  const queue = localQueueOf(object);
  return [
    ...(owner === undefined
      ? []
      : [`${owner.kind} ${owner.name} owns it and would create it again: let this run end, and move what creates it`]),
    ...(queue === undefined ? [] : [`LocalQueue ${queue}: its quota ends with this object: let the run end`]),
    ...(isOwn(object.metadata.annotations ?? {})
      ? [
          `metadata.annotations[${ownerAnnotation}]: own: the record of the ids that Rekindle gave executors does not move: let this run end, and create the application in the other API`,
        ]
      : []),
    ...annotationsIn(object, from),
  ];
};

const appOf = ({ metadata: { name, namespace = "default", labels = {} } }: Obj) => ({
  ...{ name, namespace, labels },
  uid: "u",
});

const { apacheOperatorName: operatorName } = defaultOptions;

type Built = Attempt | { readonly refused: string };

const kubeflowAttempt = (object: Obj): Built => {
  const read = parseSpec(object);
  if (!read.ok) return { refused: read.message };
  return submit({
    app: appOf(object),
    spec: read.spec,
    attempt: 1,
    submittedAt: 0,
    apiServer: "https://kubernetes.default.svc",
  });
};

const apacheAttempt = (object: Obj): Built => {
  const read = readApache(object);
  if (!read.ok) return { refused: read.message };
  return submitApache({ app: appOf(object), spec: read.spec, attempt: 1, operatorName });
};

/** Returns how the next attempts of the two objects differ, or why one cannot be built. */
const unlikeness = (before: Built, after: Built): readonly string[] => {
  if ("refused" in before) return [before.refused];
  if ("refused" in after) return [after.refused];
  return compared(before, after).map(
    (what) =>
      `the next attempt would have another ${what}: let this run end, and write the application for the other API`,
  );
};

const notRunning = (state: string): readonly string[] => [
  `it is ${state === "" ? "new" : state}: an application moves while its driver runs; create one that does not run in the other API`,
];

/** The one whole answer: the state, what binds the object, what has no counterpart, and what both attempts show. */
const answer = (object: Stored, made: Translated, bound: readonly string[]): Translated => {
  const blocks = [...new Set([...bound, ...made.blocks])];
  const unlike = made.object === undefined ? [] : unlikeness(attemptOf(object), attemptOf(made.object));
  return { ...made, blocks: [...blocks, ...unlike] };
};

const attemptOf = (object: Obj): Built =>
  object.apiVersion.startsWith(`${apacheApplications.group}/`) ? apacheAttempt(object) : kubeflowAttempt(object);

const isThere = (driver: Stored): readonly string[] =>
  podStatus(driver).phase === "Running" && !isEnding(driver)
    ? []
    : [
        `its driver pod ${driver.metadata.name} is ${isEnding(driver) ? "ending" : podStatus(driver).phase}: wait until it runs`,
      ];

const ownerIn = ({ group, version, kind }: Resource, { metadata: { name, uid } }: Stored): OwnerReference => ({
  ...{ apiVersion: `${group}/${version}`, kind, name, uid },
  blockOwnerDeletion: true,
});

const fromKubeflow: Direction = {
  from: sparkApplications,
  to: apacheApplications,
  translate: (object) => {
    const read = parseSpec(object);
    if (!read.ok) return refused(read.message);
    const state = kubeflowState(object);
    const made = toApache(object, read.spec);
    const unserved = made.object === undefined ? [] : unservedIn(made.object, "application");
    const bound = [
      ...(state === "RUNNING" ? [] : notRunning(state)),
      ...unserved,
      ...boundTo(object, sparkApplications),
    ];
    return answer(object, made, bound);
  },
  statusOf: apacheStatus,
  obstaclesIn: isThere,
  labelsOf: (target) => ({
    [appUidLabel]: target.metadata.uid,
    [attemptLabel]: `${recordIn(target.status)?.attempt.id ?? 0}`,
    ...{ [nameLabel]: target.metadata.name, [operatorLabel]: operatorName },
  }),
  ownerOf: (target) => ownerIn(apacheApplications, target),
};

const fromApache: Direction = {
  from: apacheApplications,
  to: sparkApplications,
  finalizer: upstreamFinalizer,
  translate: (object) => {
    const read = readApache(object);
    if (!read.ok) return refused(read.message);
    const state = apacheState(object);
    const isRunning = isSummary(state) && groupOf(state) === "running";
    const bound = [...(isRunning ? [] : notRunning(state)), ...boundTo(object, apacheApplications)];
    return answer(object, toKubeflow(object, read.spec), bound);
  },
  statusOf: kubeflowStatus,
  obstaclesIn: (driver) => [
    ...isThere(driver),
    ...(recordsIn(fieldsOf(driver.spec)["containers"]).some(({ name }) => name === driverContainer)
      ? []
      : [
          `the driver's container has another name than ${driverContainer}, by which sparkoperator.k8s.io finds it: let this run end`,
        ]),
  ],
  labelsOf: (target, driver) => ({
    [appUidLabel]: target.metadata.uid,
    [attemptLabel]: `${Number(fieldsOf(target.status)["submissionAttempts"] ?? 1)}`,
    ...{ [appNameLabel]: target.metadata.name, [launched]: "true", [submissionLabel]: submissionOf(driver) },
  }),
  ownerOf: (target) => ({ ...ownerIn(sparkApplications, target), controller: true }),
};

/** The directions by the API group that an application moves to. */
export const directions: Readonly<Record<string, Direction>> = {
  [apacheApplications.group]: fromKubeflow,
  [sparkApplications.group]: fromApache,
};
