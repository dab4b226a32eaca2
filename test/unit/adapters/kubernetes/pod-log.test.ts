/** The end of a pod's log: bounded in bytes and in time, whatever the log holds. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { openLogEnds } from "../../../../shared/adapters/kubernetes/pod-log.ts";
import { ApiError, type HttpResponse } from "../../../../shared/core/http.ts";
import { pods } from "../../../../shared/kube/resources.ts";

const pod = { resource: pods, namespace: "team", name: "pi-driver" };
const mostBytes = 65_536;

type Answer = (query: URLSearchParams, timeoutMs: number) => HttpResponse;

const ended = async (answer: Answer, now?: () => number) => {
  const paths: string[] = [];
  const transport = {
    send: async ({ path, timeoutMs }: { readonly path: string; readonly timeoutMs: number }) => {
      paths.push(path);
      return answer(new URL(path, "https://kubernetes.test").searchParams, timeoutMs);
    },
    stream: () => Promise.reject(new Error("nothing is streamed")),
  };
  const read = await openLogEnds(transport, now)(pod, "spark-kubernetes-driver", mostBytes);
  const value = read.heard ? gunzipSync(Buffer.from(String(read.value), "base64")).toString() : "";
  return { result: read.heard ? { heard: true, value } : read, paths };
};

const said = (body: string, status = 200): HttpResponse => ({ status, headers: {}, body });

describe("the end of a log", () => {
  test("is the whole log where it is short", async () => {
    const { result, paths } = await ended(() => said("one\ntwo\n"));
    assert.deepEqual(result, { heard: true, value: "one\ntwo\n" });
    assert.deepEqual(paths, [
      "/api/v1/namespaces/team/pods/pi-driver/log?container=spark-kubernetes-driver&tailLines=2000&limitBytes=1048576",
    ]);
  });

  test("begins with a whole line, and has at most the bytes that are wanted", async () => {
    const { result } = await ended(() => said(`${"é".repeat(99)}\n`.repeat(2_000)));
    assert.ok("value" in result);
    assert.ok(Buffer.byteLength(result.value) <= mostBytes && Buffer.byteLength(result.value) > mostBytes - 200);
    assert.ok(result.value.startsWith("é".repeat(99)));
  });

  test("of one long line is the end of what the server sends, from a whole character", async () => {
    const { result } = await ended(() => said("é".repeat(600_000)));
    assert.ok("value" in result);
    assert.ok(Buffer.byteLength(result.value) <= mostBytes);
    assert.equal(result.value.replaceAll("é", ""), "");
  });

  test("is asked for in fewer lines while these are too long", async () => {
    const { result, paths } = await ended((query) =>
      said(query.get("tailLines") === "20" ? "the end\n" : "x".repeat(1_048_576)),
    );
    assert.deepEqual([result, paths.length], [{ heard: true, value: "the end\n" }, 3]);
  });

  test("has 2.5 s for all its requests", async () => {
    let time = 0;
    const limits: number[] = [];
    const slow: Answer = (_, timeoutMs) => {
      limits.push(timeoutMs);
      time += 1_000;
      return said("x".repeat(1_048_576));
    };
    const { result } = await ended(slow, () => time);
    assert.deepEqual(limits, [2_500, 1_500, 500]);
    assert.deepEqual(result, { heard: false, why: "timeout", message: "no answer in time" });
  });

  for (const [status, why] of [
    [404, "notFound"],
    [400, "notFound"],
    [500, "unreachable"],
  ] as const)
    test(`is ${why} after HTTP ${status}`, async () => {
      const { result } = await ended(() => said("no", status));
      assert.deepEqual(result, { heard: false, why, message: `HTTP ${status}: no` });
    });

  test("that may not be read names the feature to grant", async () => {
    const { result } = await ended(() => said("no", 403));
    const message = "rekindle manifests --features kept-logs grants this: HTTP 403: no";
    assert.deepEqual(result, { heard: false, why: "forbidden", message });
  });

  test("is unreachable where there is no answer", async () => {
    const { result } = await ended(() => {
      throw new ApiError({ status: 0, reason: "Unreachable", message: "reset" });
    });
    assert.deepEqual(result, { heard: false, why: "unreachable", message: "reset" });
  });
});
