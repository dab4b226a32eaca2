/** Builds executor pods from a few fields. */
import type { Stored } from "../../../../shared/core/object.ts";

export type Short = {
  readonly id: number | string;
  readonly uid?: string;
  readonly phase?: string;
  readonly exit?: number;
  /** Reason of the container's termination. */
  readonly because?: string;
  readonly finishedAt?: string;
  /** Reason of the pod's status. */
  readonly reason?: string;
  /** Reason of its DisruptionTarget condition. */
  readonly disrupted?: string;
  /** Deletion timestamp: the end of its grace of 30 s. */
  readonly deletion?: string;
  readonly node?: string;
  /** The name of its container; null: the status reports no container. */
  readonly container?: string | null;
  readonly waiting?: string;
  readonly unscheduled?: string;
  /** When the pod became not ready. */
  readonly unready?: string;
  readonly created?: string;
  readonly started?: string;
  readonly claim?: boolean;
  /** The time of the notice for its node. */
  readonly leaving?: string;
};

const stateOf = ({ exit, because, finishedAt, waiting }: Short) => {
  if (exit !== undefined) return { terminated: { exitCode: exit, reason: because ?? "Error", finishedAt } };
  return waiting === undefined ? { running: {} } : { waiting: { reason: waiting } };
};

const condition = (type: string, status: string, reason: string, lastTransitionTime?: string) => ({
  ...{ type, status, reason },
  ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
});

export const uidOf = (id: number | string): string => `${String(id).padStart(8, "0")}-e000-4000-8000-000000000000`;

export const executor = (short: Short): Stored => {
  const { id, phase = "Running", reason, disrupted, deletion, unscheduled, unready } = short;
  const { container = "spark-kubernetes-executor", node = "node-1", created = "2026-11-02T07:50:00Z" } = short;
  const conditions = [
    ...(disrupted === undefined ? [] : [condition("DisruptionTarget", "True", disrupted)]),
    ...(unscheduled === undefined ? [] : [condition("PodScheduled", "False", unscheduled)]),
    ...(unready === undefined ? [] : [condition("Ready", "False", "", unready)]),
  ];
  const volumes = short.claim === true ? [{ name: "data", persistentVolumeClaim: { claimName: "data" } }] : [];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pi-exec-${id}`,
      namespace: "default",
      uid: short.uid ?? uidOf(id),
      resourceVersion: "1",
      creationTimestamp: created,
      labels: {
        "spark-role": "executor",
        "spark-exec-id": String(id),
        "sparkoperator.k8s.io/app-name": "spark-pi",
        "sparkoperator.k8s.io/submission-id": "submission-1",
        "rekindle.dev/attempt": "1",
      },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "spark-pi-driver", uid: "driver-1" }],
      ...(short.leaving === undefined ? {} : { annotations: { "rekindle.dev/leaving": short.leaving } }),
      ...(deletion === undefined ? {} : { deletionTimestamp: deletion, deletionGracePeriodSeconds: 30 }),
    },
    spec: { ...(unscheduled === undefined ? { nodeName: node } : {}), volumes },
    status: {
      phase,
      ...(reason === undefined ? {} : { reason }),
      ...(short.started === undefined ? {} : { startTime: short.started }),
      conditions,
      ...(container === null ? {} : { containerStatuses: [{ name: container, state: stateOf(short) }] }),
    },
  };
};
