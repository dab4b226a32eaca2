/** Pages of a list whose objects are too large for the usual page. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import { pages } from "../../../shared/adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../../../shared/core/http.ts";
import { openPaging } from "../../../shared/kube/paths.ts";

const tooLong = new ApiError({ status: 0, reason: "TooLong", message: "longer than 16 bytes" });
const resource = { group: "", version: "v1", plural: "pods", kind: "Pod" } as const;
const count = 20;

/** Serves twenty pods, of which at most `most` fit into an answer. */
const heavy = (most: number): Transport & { readonly sizes: number[] } => {
  const sizes: number[] = [];
  return {
    sizes,
    send: async ({ path }) => {
      const query = new URLSearchParams(path.split("?")[1]);
      const [size, from] = [Number(query.get("limit")), Number(query.get("continue") ?? 0)];
      sizes.push(size);
      if (Math.min(size, count - from) > most) throw tooLong;
      const items = Array.from({ length: Math.min(size, count - from) }, (_, at) => ({
        metadata: { name: `p${from + at}`, namespace: "ns", uid: "u", resourceVersion: "1" },
      }));
      const next = from + size < count ? { continue: String(from + size) } : {};
      const body = JSON.stringify({ metadata: { resourceVersion: "1", ...next }, items });
      return { status: 200, headers: { date: "Mon, 02 Nov 2026 08:00:00 GMT" }, body };
    },
    stream: () => Promise.reject(new Error("no streams here")),
  };
};

describe("a list of large objects", () => {
  test("is read in smaller pages, and what was too long is asked for once", async () => {
    const transport = heavy(8);
    const { value } = await openCluster(transport).list({ do: "list", resource, namespace: "ns", labels: {} });
    assert.equal(value.length, count);
    assert.deepEqual(transport.sizes, [64, 8, 8, 8]);
  });

  test("is read in smaller pages by resync and the command line, too", async () => {
    const transport = heavy(1);
    let found = 0;
    for await (const { items } of pages(transport, { resource, namespace: "ns", limit: 16 })) found += items.length;
    assert.equal(found, count);
    assert.deepEqual(transport.sizes.slice(0, 4), [16, 2, 1, 1]);
  });

  test("begins with the size that fitted the last time", async () => {
    const transport = heavy(8);
    const cluster = openCluster(transport);
    await cluster.list({ do: "list", resource, namespace: "ns", labels: {} });
    transport.sizes.length = 0;
    await cluster.list({ do: "list", resource, namespace: "ns", labels: {} });
    assert.deepEqual(transport.sizes, [8, 16, 2, 2, 2, 2, 2, 2]);
  });

  test("is read in pages that grow while they are short, up to the largest", async () => {
    const sizes = new Map<string, number>();
    const asked: number[] = [];
    const read = async (bodies: readonly string[]): Promise<void> => {
      const paging = openPaging(500, "/list", sizes);
      for (const body of bodies)
        await paging(async (size) => {
          asked.push(size);
          return { body };
        });
    };
    await read(["x", "x", "x".repeat(2 * 1_024 * 1_024), "x", "x"]);
    assert.deepEqual(asked, [64, 128, 256, 256, 500]);
    await read(["x"]);
    assert.deepEqual(asked.slice(5), [500]);
  });

  test("has a limit for each page of several objects, and none for a page of one", async () => {
    const limits: (number | undefined)[] = [];
    const paging = openPaging(8)(async (_, limitBytes) => {
      limits.push(limitBytes);
      if (limits.length < 2) throw tooLong;
      return { body: "" };
    });
    await paging;
    assert.deepEqual(limits, [6 * 1_024 * 1_024, undefined]);
  });

  test("is given up where a single object is too long", async () => {
    const transport = heavy(0);
    await assert.rejects(openCluster(transport).list({ do: "list", resource, namespace: "ns", labels: {} }), tooLong);
    assert.deepEqual(transport.sizes, [64, 8, 1]);
  });

  test("is asked for once where something else is wrong", async () => {
    let asked = 0;
    const away = new Error("ECONNRESET");
    const paging = openPaging(500)(async () => {
      asked += 1;
      throw away;
    });
    await assert.rejects(paging, away);
    assert.equal(asked, 1);
  });
});
