/** The log of an application's pod on the page: its end, bounded, read once for all viewers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { HttpRequest, Transport } from "../../../../shared/core/http.ts";
import { openLogs } from "../../../../shared/deployments/page/detail.ts";

const named = { kind: "SparkApplication", namespace: "team-a", name: "etl" };
const owner = { kind: "SparkApplication", name: "etl", uid: "uid-etl", apiVersion: "v1", controller: true };

const driver = {
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: {
    ...{ name: "etl-driver", namespace: "team-a", uid: "uid-driver", resourceVersion: "1" },
    labels: { "spark-role": "driver", "sparkoperator.k8s.io/app-name": "etl" },
    ownerReferences: [owner],
  },
  status: { phase: "Running", containerStatuses: [{ name: "spark-kubernetes-driver" }] },
};

const application = {
  ...{ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication" },
  metadata: { name: "etl", namespace: "team-a", uid: "uid-etl", resourceVersion: "1" },
  status: { driverInfo: { podName: "etl-driver" }, applicationState: { state: "RUNNING" } },
};

type Answer = { readonly status: number; readonly body: string };

/** A cluster of one application; `log` answers the requests for logs, whose paths are kept. */
const open = (log: (query: URLSearchParams) => Answer, now?: () => number) => {
  const asked: string[] = [];
  const answer = ({ path }: HttpRequest): Answer => {
    const { pathname, searchParams } = new URL(path, "http://api");
    if (pathname.endsWith("/log")) {
      asked.push(pathname);
      return log(searchParams);
    }
    if (pathname.endsWith("/sparkapplications/etl")) return { status: 200, body: JSON.stringify(application) };
    if (pathname.endsWith("/pods"))
      return { status: 200, body: JSON.stringify({ metadata: { resourceVersion: "1" }, items: [driver] }) };
    const absent = { kind: "Status", reason: "NotFound", details: { name: "other", kind: "sparkapplications" } };
    return { status: 404, body: JSON.stringify(absent) };
  };
  const transport: Transport = {
    send: async (request) => ({ headers: { date: "Mon, 02 Nov 2026 08:00:00 GMT" }, ...answer(request) }),
    stream: () => Promise.reject(new Error("no stream is needed")),
  };
  return { logs: openLogs({ transport }, now), asked };
};

describe("the log of an application", () => {
  test("it is the end of the driver's log, at most 64 KiB, from the beginning of a line", async () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at} ${"x".repeat(60)}`).join("\n");
    const { logs } = open(() => ({ status: 200, body: lines }));
    const { pod = "", text = "" } = (await logs(named, "")) ?? {};
    assert.equal(pod, "etl-driver");
    assert.ok(text.length <= 65_536 && text.length > 65_000, `${text.length}`);
    assert.match(text, /^line \d+ x/);
    assert.ok(text.endsWith(lines.slice(-100)));
  });

  test("lines of a megabyte are read one at a time, and their end is shown", async () => {
    const tails: string[] = [];
    const { logs } = open((query) => {
      assert.equal(query.get("limitBytes"), "1048576");
      const tail = query.get("tailLines") ?? "";
      tails.push(tail);
      return { status: 200, body: `${"y".repeat(tail === "1" ? 1_000_000 : 1_048_576)}` };
    });
    const found = await logs(named, "");
    assert.deepEqual(tails, ["400", "40", "4", "1"]);
    assert.equal(found?.text.length, 65_536);
  });

  test("fifty viewers cost one read in two seconds", async () => {
    let now = 0;
    const { logs, asked } = open(
      () => ({ status: 200, body: "hello" }),
      () => now,
    );
    await Promise.all(Array.from({ length: 50 }, () => logs(named, "")));
    assert.equal(asked.length, 1);
    now = 2_001;
    await logs(named, "");
    assert.equal(asked.length, 2);
  });

  test("a process without the right to read logs returns that error", async () => {
    const { logs } = open(() => ({
      status: 403,
      body: JSON.stringify({ kind: "Status", message: "no pods/log here" }),
    }));
    assert.match((await logs(named, ""))?.error ?? "", /no pods\/log here/);
  });

  test("a pod of another application is refused, and its log is not read", async () => {
    const { logs, asked } = open(() => ({ status: 200, body: "secret" }));
    const found = await logs(named, "another-driver");
    assert.deepEqual([found?.text, found?.error, asked], ["", "it has no such pod", []]);
  });

  test("a missing application has no log", async () => {
    const { logs } = open(() => ({ status: 200, body: "" }));
    assert.equal(await logs({ ...named, name: "other" }, ""), undefined);
    assert.equal(await logs({ ...named, kind: "Pod" }, ""), undefined);
  });
});
