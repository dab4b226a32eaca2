/** The reasons for which a pod does not start, in the words of kubelets, schedulers and volume controllers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import { eventsOf, holdupOf, needsEvents, startDueAt, startGraceMs } from "../../../shared/kube/startup.ts";
import { trimPod } from "../../../shared/kube/trim.ts";

const created = "2026-11-02T08:00:00Z";

type Given = { readonly spec?: object; readonly status?: object; readonly metadata?: object };

const pod = ({ spec, status, metadata }: Given = {}): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name: "app-driver", namespace: "jobs", uid: "u-1", resourceVersion: "1", creationTimestamp: created },
    ...metadata,
  },
  spec: { schedulerName: "default-scheduler", ...spec },
  status: { phase: "Pending", ...status },
});

const bound = { nodeName: "node-1" };

const unschedulable = (message: string): Given => ({
  status: { conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }] },
});

const waiting = (reason: string, message?: string, of = "containerStatuses"): Given => ({
  spec: bound,
  status: { [of]: [{ name: "main", state: { waiting: { reason, ...(message === undefined ? {} : { message }) } } }] },
});

const creating = waiting("ContainerCreating");

let time = Date.parse(created);

const told = (reason: string, message: string, type = "Warning"): Obj => {
  time += 1_000;
  const lastTimestamp = new Date(time).toISOString();
  return { apiVersion: "v1", kind: "Event", metadata: { name: `e.${time}` }, type, reason, message, lastTimestamp };
};

const scheduled = (): Obj => told("Scheduled", "Successfully assigned jobs/app-driver to node-1", "Normal");

type Row = readonly [name: string, Given, events: () => readonly Obj[], says: RegExp, help: RegExp];

const rows: readonly Row[] = [
  [
    "no room",
    unschedulable(
      "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
    ),
    () => [],
    /^Unschedulable: 0\/3 nodes are available: 3 Insufficient cpu/,
    /^make room in the cluster, or ask for less$/,
  ],
  [
    "a node selector that no node has",
    unschedulable("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."),
    () => [],
    /^Unschedulable: /,
    /^label a node as its nodeSelector and affinity ask/,
  ],
  [
    "a taint",
    unschedulable("0/1 nodes are available: 1 node(s) had untolerated taint {gpu: only}."),
    () => [],
    /untolerated taint/,
    /^add a toleration/,
  ],
  [
    "a claim that is not there",
    unschedulable('0/1 nodes are available: persistentvolumeclaim "data" not found.'),
    () => [],
    /^Unschedulable/,
    /^create persistentvolumeclaim data in namespace jobs/,
  ],
  [
    "a claim that nothing is bound to",
    unschedulable("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."),
    () => [],
    /unbound immediate/,
    /kubectl get pvc -n jobs$/,
  ],
  [
    "an event of the scheduler where the pod has no condition",
    {},
    () => [told("FailedScheduling", "0/1 nodes are available: 1 Insufficient memory.")],
    /^FailedScheduling: 0\/1 nodes/,
    /^make room/,
  ],
  [
    "nobody runs its scheduler",
    { spec: { schedulerName: "yunikorn" } },
    () => [],
    /^NotScheduled: no scheduler named yunikorn has looked at it$/,
    /^start the scheduler yunikorn, or give the pod the name of one that runs$/,
  ],
  [
    "a ConfigMap that cannot be mounted",
    creating,
    () => [
      scheduled(),
      told("FailedMount", 'MountVolume.SetUp failed for volume "config" : configmap "app-config" not found'),
    ],
    /^FailedMount: MountVolume\.SetUp failed for volume "config" : configmap "app-config" not found$/,
    /^create configmap app-config in namespace jobs, or correct the name$/,
  ],
  [
    "a Secret that cannot be mounted",
    creating,
    () => [told("FailedMount", 'MountVolume.SetUp failed for volume "key" : secret "jobs/key" not found')],
    /^FailedMount: /,
    /^create secret key in namespace jobs/,
  ],
  [
    "a key that its ConfigMap has not",
    creating,
    () => [
      told(
        "FailedMount",
        'MountVolume.SetUp failed for volume "c" : configmap references non-existent config key: log4j',
      ),
    ],
    /^FailedMount: /,
    /^add the key log4j to the ConfigMap or Secret/,
  ],
  [
    "a mount that takes too long",
    creating,
    () => [
      told(
        "FailedMount",
        "Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition",
      ),
    ],
    /^FailedMount: Unable to attach/,
    /^provide the volume that it mounts/,
  ],
  [
    "a disk that another node holds",
    creating,
    () => [
      told(
        "FailedAttachVolume",
        'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node and can\'t be attached to another',
      ),
    ],
    /^FailedAttachVolume: Multi-Attach error/,
    /^end the pod that uses its volume on another node/,
  ],
  [
    "a disk that cannot be attached",
    creating,
    () => [told("FailedAttachVolume", 'AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal')],
    /^FailedAttachVolume: /,
    /kubectl get volumeattachments$/,
  ],
  [
    "no sandbox",
    creating,
    () => [
      told(
        "FailedCreatePodSandBox",
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox",
      ),
    ],
    /^FailedCreatePodSandBox: /,
    /kubectl describe node node-1$/,
  ],
  [
    "an image that cannot be pulled",
    waiting("ErrImagePull", 'failed to pull and unpack image "example/spark:1": not found'),
    () => [],
    /^ErrImagePull: failed to pull/,
    /^correct the image's name, or the secret/,
  ],
  [
    "an image, where only the reason is known of the status",
    waiting("ImagePullBackOff"),
    () => [told("BackOff", 'Back-off pulling image "example/spark:1"')],
    /^ImagePullBackOff: Back-off pulling image "example\/spark:1"$/,
    /^correct the image's name/,
  ],
  [
    "a variable from a ConfigMap that is not there",
    waiting("CreateContainerConfigError", 'configmap "env" not found'),
    () => [],
    /^CreateContainerConfigError: configmap "env" not found$/,
    /^create configmap env in namespace jobs/,
  ],
  [
    "a variable from a key that is not there",
    waiting("CreateContainerConfigError", "couldn't find key TOKEN in Secret jobs/api"),
    () => [],
    /^CreateContainerConfigError: /,
    /^add the key TOKEN to Secret jobs\/api/,
  ],
  [
    "an init container's image",
    waiting("ErrImagePull", "no such image", "initContainerStatuses"),
    () => [],
    /^ErrImagePull: no such image$/,
    /^correct the image's name/,
  ],
  [
    "a kubelet that says nothing",
    creating,
    () => [scheduled()],
    /^NotStarted: the kubelet of node node-1 has reported nothing about it since it was scheduled$/,
    /^check whether the node is healthy: kubectl describe node node-1$/,
  ],
];

const textOf = (one: Given, events: readonly Obj[]): string => {
  const { reason, message } = holdupOf(pod(one), events);
  return `${reason}: ${message}`;
};

describe("what keeps a pod from starting", () => {
  for (const [name, given, events, says, help] of rows)
    test(name, () => {
      const about = events();
      const holdup = holdupOf(pod(given), about);
      assert.match(textOf(given, about), says);
      assert.match(holdup.help, help);
      assert.equal(holdup.isWrong, true);
    });

  test("an image that is being pulled, after a mount that failed at first, needs nobody", () => {
    const about = [told("FailedMount", "not yet"), told("Pulling", 'Pulling image "example/spark:1"', "Normal")];
    const { reason, isWrong, help } = holdupOf(pod(creating), about);
    assert.deepEqual([reason, isWrong, help], ["Pulling", false, "nothing: it continues by itself"]);
  });

  test("events of the newer API count by their series", () => {
    const series = { count: 9, lastObservedTime: "2026-11-02T09:00:00.000000Z" };
    const old = { ...told("FailedScheduling", "the newest"), lastTimestamp: null, eventTime: created, series };
    assert.equal(textOf({}, [old, told("FailedMount", "an older one")]), "FailedScheduling: the newest");
  });

  test("is asked of the events only where the status leaves it open", () => {
    assert.equal(needsEvents(pod(creating)), true);
    assert.equal(needsEvents(pod({})), true);
    assert.equal(needsEvents(pod(unschedulable("0/1 nodes are available"))), false);
    assert.equal(needsEvents(pod(waiting("ErrImagePull", "no such image"))), false);
    assert.deepEqual(eventsOf(pod()).field, "involvedObject.uid=u-1");
  });

  test("a watched pod tells its scheduler as a read one does", () => {
    const watched = trimPod(pod({ spec: { schedulerName: "yunikorn" } }));
    assert.match(holdupOf(watched, []).message, /no scheduler named yunikorn/);
    assert.match(holdupOf(trimPod(pod()), []).message, /no scheduler named default-scheduler/);
  });

  const due: readonly (readonly [string, Given, number | undefined])[] = [
    ["a pending one, when its grace is over", {}, Date.parse(created) + startGraceMs],
    ["one that runs: never", { status: { phase: "Running" } }, undefined],
    ["one that is ending: never", { metadata: { deletionTimestamp: created } }, undefined],
    [
      "one behind a scheduling gate: never, for somebody wants it to wait",
      { status: { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] } },
      undefined,
    ],
  ];
  for (const [name, given, at] of due) test(`is asked of ${name}`, () => assert.equal(startDueAt(pod(given)), at));
});
