/** Volcano Jobs of which Kueue may admit fewer pods of a task: they run with these. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { reservedInPart } from "../../../support/kueue.ts";
import { volcanoJob } from "../objects.ts";
import { itOnStand } from "../stand.ts";
import { within } from "./client.ts";
import {
  admit,
  conditionOf,
  eventsOf,
  evict,
  labelled,
  messageOf,
  opened,
  options,
  phaseOf,
  podsIn,
  queue,
  queued,
  unfinishedIn,
  workloadIn,
  write,
} from "./queued-job.ts";

const it = itOnStand(options);

describe("a Volcano Job that Kueue may admit in part", () => {
  it("that may be admitted in part runs with the pods that Kueue admits, and with others after an eviction", async (stand) => {
    await opened(stand);
    const script = Object(volcanoJob("", { runMs: 60_000 })["spec"]).tasks[0];
    const tasks = [{ ...script, name: "worker", replicas: 4, minAvailable: 2 }];
    const annotations = { "rekindle.dev/partial-admission": "worker" };
    await queued(stand, labelled("job", {}, { tasks, minAvailable: 2 }, { labels: queue, annotations }));
    const [set] = Object(within(workloadIn(stand), "spec", "podSets"));
    assert.deepEqual([set.count, set.minCount], [4, 2]);
    await write(stand, (one, now) => reservedInPart(one, "spot", now));
    await stand.until("it runs", () => phaseOf(stand) === "Running");
    await stand.turn(20_000);
    assert.equal(podsIn(stand).length, 2);
    assert.match(messageOf(stand), /Kueue has admitted 2 of 4 pods of task worker/);
    assert.match(eventsOf(stand, "PartiallyAdmitted").join(), /2 of 4 pods of task worker/);
    await evict(stand);
    await stand.until("its quota is released", () => conditionOf(stand, "QuotaReserved")["status"] === "False");
    await admit(stand);
    await stand.until("it runs with all", () => phaseOf(stand) === "Running" && podsIn(stand).length === 4);
    assert.doesNotMatch(messageOf(stand), /Kueue has admitted/);
    await stand.until("it is complete", () => phaseOf(stand) === "Completed");
  });

  it("that runs in part is complete when these pods are, and is queued anew once it needs more", async (stand) => {
    await opened(stand);
    const [short, long] = [20_000, 600_000].map((runMs) => Object(volcanoJob("", { runMs })["spec"]).tasks[0]);
    const annotations = { "rekindle.dev/partial-admission": "worker" };
    const inPart = (script: object) =>
      labelled(
        "job",
        {},
        { tasks: [{ ...script, name: "worker", replicas: 4, minAvailable: 1 }], minAvailable: 1 },
        {
          ...{ labels: queue, annotations },
        },
      );
    await queued(stand, inPart(short));
    await write(stand, (one, now) => reservedInPart(one, "spot", now));
    await stand.until("it is complete", () => phaseOf(stand) === "Completed");
    assert.equal(podsIn(stand).length, 1);
    await stand.remove("Job", "job");
    await stand.until("the Workload went with it", () => workloadIn(stand) === undefined);
    await queued(stand, inPart(long));
    await write(stand, (one, now) => reservedInPart(one, "spot", now));
    await stand.until("it runs", () => phaseOf(stand) === "Running");
    const before = workloadIn(stand)?.metadata.uid;
    await stand.patch("Job", "job", { metadata: { annotations: { "rekindle.dev/partial-admission": null } } });
    await stand.until("there is another", () => ![undefined, before].includes(workloadIn(stand)?.metadata.uid));
    assert.equal(unfinishedIn(stand).length, 0);
    assert.equal(Object(within(workloadIn(stand), "spec", "podSets"))[0].minCount, undefined);
  });
});
