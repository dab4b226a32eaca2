/** Probes: a job is created while the jobs that it depends on still run, as soon as their probes succeed. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ProbeResult } from "../../../../shared/core/plan.ts";
import { waitIn } from "../../../support/plans.ts";
import { flowOf } from "./fixtures.ts";

const probing = (probe: object) => {
  const fixture = flowOf([{ name: "a" }, { name: "b", dependsOn: { targets: ["a"], probe } }]).run();
  for (const index of [0, 1])
    fixture.put("pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name: `f-a-w-${index}`,
        labels: { "volcano.sh/job-name": "f-a", "volcano.sh/task-spec": "w" },
        ownerReferences: [
          {
            apiVersion: "batch.volcano.sh/v1alpha1",
            kind: "Job",
            name: "f-a",
            uid: fixture.get("jobs", "f-a").metadata.uid,
          },
        ],
      },
      status: { phase: "Running" },
    });
  fixture.job("f-a", "Running", { taskStatusCount: { w: { phase: { Running: 2 } } } });
  return fixture;
};

const http = {
  httpGetList: [{ taskName: "w", path: "/ready?full=1", port: 8080, httpHeader: { name: "X-Who", value: "me" } }],
};
const tcp = { tcpSocketList: [{ taskName: "w", port: 22 }] };
const status = (phase: string) => ({ taskStatusList: [{ taskName: "w", phase }] });

const silent = (why: Extract<ProbeResult, { heard: false }>["why"], message = ""): ProbeResult => ({
  heard: false,
  why,
  message,
});
const refused =
  'HTTP 503: {"message":"error trying to reach service: dial tcp 10.1.1.1:22: connect: connection refused"}';

describe("a probe of a JobFlow", () => {
  const rows: readonly (readonly [what: string, probe: object, hearing: ProbeResult, met: boolean])[] = [
    ["an HTTP page of JSON", http, { heard: true, value: {} }, true],
    ["an HTTP page of any other text", http, silent("notJson", "ok"), true],
    ["an HTTP page that is missing", http, silent("notFound", "HTTP 404: no"), false],
    ["an HTTP page with status 500", http, silent("unreachable", "HTTP 500: oh"), false],
    ["a TCP port that answers HTTP 404", tcp, silent("notFound", "HTTP 404: no"), true],
    [
      "a TCP port of another protocol",
      tcp,
      silent("unreachable", 'HTTP 503: malformed HTTP response \\"SSH-2.0\\"'),
      true,
    ],
    ["a TCP port that refuses the connection", tcp, silent("unreachable", refused), false],
    ["a TCP port that does not answer", tcp, silent("timeout", "2000 ms"), false],
    ["an API server that cannot be reached", tcp, silent("unreachable", "ECONNRESET"), false],
    ["a proxy request that is forbidden", tcp, silent("forbidden", "HTTP 403: pods is forbidden: User x"), false],
    ["a task phase that enough pods have", status("Running"), silent("timeout"), true],
    ["a task phase that the pods do not have", status("Succeeded"), silent("timeout"), false],
  ];
  for (const [what, probe, hearing, met] of rows)
    test(`${what}: the next job ${met ? "is created" : "waits"}`, () => {
      const fixture = probing(probe);
      fixture.hears = () => hearing;
      fixture.run();
      assert.equal(fixture.deeds.includes("create jobs f-b"), met);
      assert.equal(waitIn(fixture.last).pollMs, met ? undefined : 10_000);
    });

  test("sends a request to each pod of the task, with its port, path and header", () => {
    const fixture = probing(http);
    const asked: unknown[] = [];
    fixture.hears = (query) => {
      asked.push([query.pod.name, query.port, query.path, query.query, query.header]);
      return { heard: true, value: {} };
    };
    fixture.step();
    const header = { name: "X-Who", value: "me" };
    assert.deepEqual(asked, [
      ["f-a-w-0", 8080, ["ready"], "full=1", header],
      ["f-a-w-1", 8080, ["ready"], "full=1", header],
    ]);
  });

  test("waits for as many pods as the task needs", () => {
    const fixture = probing(tcp);
    fixture.hears = () => ({ heard: true, value: {} });
    fixture.change("pods", "f-a-w-1", { status: { phase: "Pending" } });
    fixture.run();
    assert.match(waitIn(fixture.last).waitsFor ?? "", /1 of 2 pods of task w of job f-a run/);
  });

  test("sends no request for a job that is complete", () => {
    const fixture = probing(http);
    fixture.job("f-a", "Completed");
    fixture.run();
    assert.ok(fixture.deeds.includes("create jobs f-b"));
  });

  test("applies to those jobs that have its task, complete or not", () => {
    const fixture = flowOf([
      { name: "a" },
      { name: "c" },
      {
        name: "b",
        dependsOn: { targets: ["a", "c"], probe: { taskStatusList: [{ taskName: "ps", phase: "Running" }] } },
      },
    ]).run();
    fixture.change("jobs", "f-a", { spec: { tasks: [{ name: "ps", replicas: 1 }] } });
    fixture.job("f-a", "Completed");
    fixture.run();
    assert.ok(fixture.deeds.includes("create jobs f-b"));
  });

  test("ignores pods of an earlier job of the same name", () => {
    const fixture = probing(tcp);
    fixture.hears = () => ({ heard: true, value: {} });
    const owner = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "f-a", uid: "earlier" };
    fixture.change("pods", "f-a-w-0", { metadata: { ownerReferences: [owner] } });
    fixture.run();
    assert.match(waitIn(fixture.last).waitsFor ?? "", /1 of 2 pods of task w of job f-a run/);
  });

  test("of a task that does not exist leads to an Event", () => {
    const fixture = probing({ taskStatusList: [{ taskName: "ps", phase: "Running" }] }).run();
    assert.match(fixture.told.join(), /none of its jobs has a task "ps": correct dependsOn.probe/);
  });

  test("with an empty list is ignored: the next job waits until the job is complete", () => {
    const fixture = probing({ httpGetList: [] }).run();
    assert.equal(waitIn(fixture.last).waitsFor, "f-a to be complete");
  });
});
