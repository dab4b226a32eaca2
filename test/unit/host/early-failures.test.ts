/** Drivers that fail at once are retried at the interval that the user wrote. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { application, at, stateOf } from "./objects.ts";
import { itOnStand } from "./stand.ts";

const scripts = { etl: [{ jobMs: 500, exitCode: 1 }, { jobMs: 500, exitCode: 1 }, { jobMs: 500 }] };

const it = itOnStand({ scripts });

describe("a driver that fails early", () => {
  it("is followed by the next within seconds, with an interval of one second", async (stand) => {
    const spec = { restartPolicy: { type: "OnFailure", onFailureRetries: 3, onFailureRetryInterval: 1 } };
    const created = new Map<string, number>();
    await stand.host();
    await stand.create(application("etl", { spec }));
    await stand.until("it completes", () => {
      for (const pod of stand.all("Pod"))
        if (at(pod, "metadata", "labels", "spark-role") === "driver")
          created.set(pod.metadata.uid, Date.parse(`${pod.metadata.creationTimestamp}`));
      return stateOf(stand.get("SparkApplication", "etl")) === "COMPLETED";
    });
    const times = [...created.values()];
    const apart = times.slice(1).map((time, index) => (time - (times[index] ?? 0)) / 1_000);
    assert.equal(apart.length, 2);
    assert.ok(
      apart.every((seconds) => seconds <= 8),
      `drivers were created ${apart.join(" and ")} s apart`,
    );
  });
});
