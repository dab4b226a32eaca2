/** A SparkConnect that is deleted when nobody uses it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitIn } from "../../../support/plans.ts";
import { creating, said as reviewed } from "../admission/reviews.ts";
import { connect, eight, others, planned, said, server } from "./fixtures.ts";

const minute = 60_000;
const ready = { phase: "Running", podIP: "10.0.0.7", conditions: [{ type: "Ready", status: "True" }] };

const idle = (value: string) => {
  const { metadata, ...rest } = connect();
  return { ...rest, metadata: { ...metadata, annotations: { "rekindle.dev/delete-when-idle": value } } };
};

const restWith = (running: number, ended: number) => ({
  applications: [{ id: "spark-1", name: "Spark Connect server" }],
  allexecutors: [
    { id: "driver", isActive: true, activeTasks: 0, completedTasks: 0, failedTasks: 0 },
    { id: "1", isActive: true, activeTasks: running, completedTasks: ended, failedTasks: 0 },
  ],
});

const pod = () => server(ready);
const given = { object: idle("1h"), there: [...others(), pod()] };
const seen = (since: number, ended: number) => ({
  memory: { ends: 0, activity: { server: pod().metadata.uid, since, ended } },
});

describe("a SparkConnect with rekindle.dev/delete-when-idle", () => {
  test("is asked for its tasks when its server is ready, and again after at most 15 minutes", () => {
    const plan = planned({ ...given, rest: restWith(0, 7) });
    assert.deepEqual(plan.memory.activity, { server: pod().metadata.uid, since: eight, ended: 7 });
    assert.deepEqual([said(plan), waitIn(plan).wakeAt], [[], eight + 15 * minute]);
  });

  test("is not asked before the next question is due", () => {
    const plan = planned({ ...given, ...seen(eight - minute, 7) });
    assert.deepEqual([said(plan), waitIn(plan).wakeAt], [[], eight + 14 * minute]);
  });

  test("is in use while tasks run or have ended since, which begins the time anew", () => {
    for (const rest of [restWith(1, 7), restWith(0, 8), restWith(0, 2)]) {
      const plan = planned({ ...given, ...seen(eight - 90 * minute, 7), rest });
      assert.deepEqual([said(plan), plan.memory.activity?.since], [[], eight]);
    }
  });

  test("is deleted at this version, which an Event tells afterwards, once no task has run for that long", () => {
    const soon = planned({ ...given, ...seen(eight - 50 * minute, 7), rest: restWith(0, 7) });
    assert.deepEqual([said(soon), waitIn(soon).wakeAt], [[], eight + 10 * minute]);
    const plan = planned({ ...given, ...seen(eight - 60 * minute, 7), rest: restWith(0, 7) });
    assert.deepEqual(said(plan), ["delete sparkconnects sc if it is c-1", "tell SparkConnectIdle"]);
    const [effect] = plan.stages.flat();
    assert.equal(effect?.do === "delete" ? effect.resourceVersion : effect, "5");
  });

  test("stays where its REST API does not answer, and where the server is another one or not ready", () => {
    const old = seen(eight - 90 * minute, 7);
    for (const rest of [{}, { applications: [{ id: "spark-1" }] }, { ...restWith(0, 7), applications: [] }])
      assert.deepEqual(said(planned({ ...given, ...old, rest })), []);
    const other = { ends: 0, activity: { server: "another", since: eight - 90 * minute, ended: 7 } };
    const plan = planned({ ...given, memory: other, rest: restWith(0, 7) });
    assert.deepEqual([said(plan), plan.memory.activity?.since], [[], eight]);
    const starting = server({ ...ready, conditions: [{ type: "Ready", status: "False" }] });
    assert.deepEqual(said(planned({ ...given, ...old, there: [...others(), starting] })), []);
  });

  test("is told about a value that cannot be read, and stays", () => {
    const says = /delete-when-idle\]: "soon" is not a duration from 1m to 30d/;
    const plan = planned({ ...given, object: idle("soon") });
    assert.match(JSON.stringify(plan.status), /"RekindleConfIgnored".*delete-when-idle/);
    const metadata = { name: "sc", annotations: { "rekindle.dev/delete-when-idle": "soon" } };
    assert.match(reviewed(creating("SparkConnect", connect().spec, metadata)), says);
  });
});
