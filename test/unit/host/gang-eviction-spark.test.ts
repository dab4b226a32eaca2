/** Spark applications under a host with gang: builtin that evicts: driver and executors give and get room together. */

import assert from "node:assert/strict";
import { describe } from "node:test";
import type { Obj, Stored } from "../../../shared/core/object.ts";
import type { HostSettings } from "../../../shared/deployments/host/start.ts";
import { defaultOptions } from "../../../shared/spark/auxiliary-objects/options.ts";
import { application, at, home } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const stateOf = (stand: Stand, name: string): unknown =>
  at(stand.get("SparkApplication", name), "status", "applicationState", "state");

const podsOf = (stand: Stand, name: string): readonly Stored[] =>
  stand.all("Pod").filter(({ metadata }) => metadata.labels?.["sparkoperator.k8s.io/app-name"] === name);

const placed = (stand: Stand, name: string): readonly Stored[] =>
  podsOf(stand, name).filter((pod) => at(pod, "status", "phase") === "Running");

/** An application of a driver and two executors, each of a core. */
const gang = (name: string, priorityClassName: string, own: boolean): Obj =>
  application(name, {
    annotations: own ? { "rekindle.dev/executors": "own" } : {},
    spec: {
      batchScheduler: "volcano",
      batchSchedulerOptions: { priorityClassName },
      restartPolicy: { type: "Never" },
      executor: { instances: 2, cores: 1, memory: "512m" },
    },
  });

const priorityClass = (name: string, value: number): Obj => ({
  ...{ apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value },
});

const settings = {
  ...{ gang: "builtin", gangEvict: "preempt" },
  spark: { ...defaultOptions, batchScheduler: true },
} as const satisfies Partial<HostSettings>;

const it = itOnStand({ nodes: [{ name: "a", cpu: "3" }], scripts: { "*": [{ jobMs: 60_000 }] } });

describe("a Spark application of a lower priority", () => {
  for (const own of [false, true])
    it(`gives its room whole, ${own ? "own" : "assist"}: by evictions, executors first, spends no attempt, and runs again`, async (stand) => {
      const ends: string[] = [];
      stand.fault(({ method, path }) => {
        if (method === "POST" && path.endsWith("/eviction")) ends.push(path.split("/").at(-2) ?? "");
        return undefined;
      });
      await stand.create(home);
      await stand.create(priorityClass("high", 1_000));
      await stand.create(priorityClass("low", 1));
      await stand.host(settings);
      await stand.create(gang("victim", "low", own));
      await stand.until("the victim runs whole", () => placed(stand, "victim").length === 3, 120_000);
      const before = new Set(podsOf(stand, "victim").map(({ metadata }) => metadata.uid));
      await stand.turn(20_000);
      await stand.create(gang("claimant", "high", own));
      const strays = new Set<string>();
      await stand.until(
        "the claimant runs whole",
        () => {
          for (const { metadata } of podsOf(stand, "victim")) if (!before.has(metadata.uid)) strays.add(metadata.name);
          return placed(stand, "claimant").length === 3;
        },
        240_000,
      );
      assert.equal(ends.length, 3);
      assert.match(ends.at(-1) ?? "", /driver/);
      assert.deepEqual([...strays], []);
      await stand.until("both are complete", () => stateOf(stand, "victim") === "COMPLETED", 1_800_000);
      assert.equal(stateOf(stand, "claimant"), "COMPLETED");
      assert.equal(at(stand.get("SparkApplication", "victim"), "status", "executionAttempts"), 1);
    });
});
