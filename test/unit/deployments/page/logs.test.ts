/** The log of an application's pod on the page: its end, bounded, read once for all viewers. And kept logs of attempts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { HttpRequest, Transport } from "../../../../shared/core/http.ts";
import { openLogs } from "../../../../shared/deployments/page/logs.ts";

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

const textOf = (lines: string): string => gzipSync(lines).toString("base64");
const keptLog = { attempt: 2, pod: "etl-driver", uid: "u-2", at: 1_000, until: 9_000, text: textOf("second\n") };
const kept = { logs: [{ ...keptLog, attempt: 1, uid: "u-1", text: "changed" }, keptLog] };

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
    if (pathname.endsWith("/checkpoints/logs.sparkapplication.etl"))
      return {
        status: 200,
        body: JSON.stringify({
          ...{ apiVersion: "rekindle.dev/v1alpha1", kind: "Checkpoint", spec: { memory: kept } },
          metadata: { name: "logs", uid: "u-logs", resourceVersion: "1" },
        }),
      };
    const absent = { kind: "Status", reason: "NotFound", details: { name: "other", kind: "sparkapplications" } };
    return { status: 404, body: JSON.stringify(absent) };
  };
  const transport: Transport = {
    send: async (request) => ({ headers: { date: "Mon, 02 Nov 2026 08:00:00 GMT" }, ...answer(request) }),
    stream: () => Promise.reject(new Error("no stream is needed")),
  };
  return { transport, logs: openLogs({ transport }, now), asked };
};

describe("the log of an application", () => {
  test("it is the end of the driver's log, at most 64 KiB, from the beginning of a line", async () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at} ${"x".repeat(60)}`).join("\n");
    const { logs } = open(() => ({ status: 200, body: lines }));
    const { pod = "", text = "" } = (await logs(named, { pod: "" })) ?? {};
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
    const found = await logs(named, { pod: "" });
    assert.deepEqual(tails, ["400", "40", "4", "1"]);
    assert.equal(found?.text.length, 65_536);
  });

  test("fifty viewers cost one read in two seconds", async () => {
    let now = 0;
    const { logs, asked } = open(
      () => ({ status: 200, body: "hello" }),
      () => now,
    );
    await Promise.all(Array.from({ length: 50 }, () => logs(named, { pod: "" })));
    assert.equal(asked.length, 1);
    now = 2_001;
    await logs(named, { pod: "" });
    assert.equal(asked.length, 2);
  });

  test("a process without the right to read logs returns that error", async () => {
    const { logs } = open(() => ({
      status: 403,
      body: JSON.stringify({ kind: "Status", message: "no pods/log here" }),
    }));
    assert.match((await logs(named, { pod: "" }))?.error ?? "", /no pods\/log here/);
  });

  test("a pod of another application is refused, and its log is not read", async () => {
    const { logs, asked } = open(() => ({ status: 200, body: "secret" }));
    const found = await logs(named, { pod: "another-driver" });
    assert.deepEqual([found?.text, found?.error, asked], ["", "it has no such pod", []]);
  });

  test("a missing application has no log", async () => {
    const { logs } = open(() => ({ status: 200, body: "" }));
    assert.equal(await logs({ ...named, name: "other" }, { pod: "" }), undefined);
    assert.equal(await logs({ ...named, kind: "Pod" }, { pod: "" }), undefined);
  });
});

describe("the kept log of an attempt", () => {
  const mayRead = (): Answer => ({ status: 404, body: JSON.stringify({ kind: "Status", reason: "NotFound" }) });

  test("is its driver's, with the time when it was kept", async () => {
    const { logs } = open(mayRead);
    const found = { pod: "etl-driver", attempt: 2, at: 1_000, text: "second", error: "" };
    assert.deepEqual(await logs(named, { pod: "", attempt: 2 }), found);
  });

  test("is read from the table of records where these are in one", async () => {
    const { transport } = open(mayRead);
    const asked: unknown[] = [];
    const load = async (key: unknown) => {
      asked.push(key);
      return { record: { memory: kept }, version: "1" };
    };
    const logs = openLogs({ transport, table: { name: "records", cluster: "blue", records: { load } } });
    assert.equal((await logs(named, { pod: "", attempt: 2 }))?.text, "second");
    assert.deepEqual(asked, [{ ...named, kind: "logs.SparkApplication", cluster: "blue" }]);
  });

  const refused: readonly (readonly [what: string, attempt: number, answer: Answer, error: RegExp])[] = [
    ["that is not there", 7, mayRead(), /^no log of attempt 7 is kept$/],
    ["that was changed", 1, mayRead(), /cannot be read: its record was changed/],
    [
      "in a process that may not read logs",
      2,
      { status: 403, body: JSON.stringify({ kind: "Status", message: "no pods/log" }) },
      /no pods\/log/,
    ],
  ];
  for (const [what, attempt, answer, error] of refused)
    test(`${what} is not shown, and the answer says why`, async () => {
      const found = await open(() => answer).logs(named, { pod: "", attempt });
      assert.match(found?.error ?? "", error);
      assert.equal(found?.text, "");
    });
});
