/** Executors of a server whose container was restarted: those of an earlier JVM are deleted and not counted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { executor, others, planned, said, server } from "./fixtures.ts";

const ready = { phase: "Running", podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] };

type Made = { readonly app: string; readonly second: number; readonly owner?: string; readonly ending?: boolean };

const made = (id: number, { app, second, owner = "uid-Pod", ending = false }: Made): Stored => {
  const pod = executor(id, "Running");
  const creationTimestamp = `2026-11-02T07:00:0${second}Z`;
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "sc-server", uid: owner }];
  const end = ending ? { deletionTimestamp: "2026-11-02T07:59:00Z" } : {};
  const labels = { ...pod.metadata.labels, "spark-app-selector": app };
  return { ...pod, metadata: { ...pod.metadata, labels, creationTimestamp, ownerReferences, ...end } };
};

const old = made(1, { app: "spark-a", second: 1 });
const young = made(2, { app: "spark-b", second: 5 });

describe("executors of a Connect server", () => {
  const cases: readonly { name: string; pods: readonly Stored[]; ended: readonly string[]; running: number }[] = [
    {
      name: "of one JVM are all kept",
      pods: [old, made(2, { app: "spark-a", second: 5 })],
      ended: [],
      running: 2,
    },
    {
      name: "of an earlier JVM of the pod are deleted once the next JVM has an executor",
      pods: [old, young],
      ended: ["delete pods sc-exec-1 if it is e-1"],
      running: 1,
    },
    { name: "of the last JVM stay until the next JVM has an executor", pods: [old], ended: [], running: 1 },
    {
      name: "of two JVMs that were created in the same second are all kept",
      pods: [old, made(2, { app: "spark-b", second: 1 })],
      ended: [],
      running: 2,
    },
    {
      name: "of another pod are left alone",
      pods: [made(1, { app: "spark-a", second: 1, owner: "another" }), young],
      ended: [],
      running: 2,
    },
    {
      name: "that are being deleted are not deleted again",
      pods: [made(1, { app: "spark-a", second: 1, ending: true }), young],
      ended: [],
      running: 1,
    },
  ];
  for (const { name, pods, ended, running } of cases) {
    test(name, () => {
      const plan = planned({ there: [...others(), server(ready), ...pods] });
      assert.deepEqual(said(plan), ended);
      assert.deepEqual(plan.status?.["executors"], { running });
    });
  }
});
