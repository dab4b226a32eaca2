/** Pages of a list whose objects are too large for the usual page. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openCluster } from "../../../shared/adapters/kubernetes/cluster.ts";
import { pages } from "../../../shared/adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../../../shared/core/http.ts";
import { openPaging, type PageSize } from "../../../shared/kube/paths.ts";

const tooLong = new ApiError({ status: 0, reason: "TooLong", message: "longer than 16 bytes" });
const resource = { group: "", version: "v1", plural: "pods", kind: "Pod" } as const;
const count = 20;
/** The most text of a page, bytes. */
const pageBytes = 6 * 1_024 * 1_024;

/** Serves twenty pods, of which at most `most` fit into an answer. */
const heavy = (most: number): Transport & { readonly sizes: number[] } => {
  const sizes: number[] = [];
  const text = "x".repeat(Math.floor(pageBytes / (most + 1)));
  return {
    sizes,
    send: async ({ path }) => {
      const query = new URLSearchParams(path.split("?")[1]);
      const [size, from] = [Number(query.get("limit")), Number(query.get("continue") ?? 0)];
      sizes.push(size);
      if (Math.min(size, count - from) > most) throw tooLong;
      const items = Array.from({ length: Math.min(size, count - from) }, (_, at) => ({
        metadata: { name: `p${from + at}`, namespace: "ns", uid: "u", resourceVersion: "1" },
        spec: { text },
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
    assert.deepEqual(transport.sizes, [8, 8, 8]);
  });

  test("begins smaller after a timeout, and grows again", async () => {
    const late = new ApiError({ status: 0, reason: "Timeout", message: "no answer within 5000 ms" });
    const sizes = new Map<string, PageSize>();
    const asked: number[] = [];
    const read = async (bodies: readonly (string | undefined)[]): Promise<void> => {
      const paging = openPaging(500, "/list", sizes);
      for (const body of bodies)
        await paging(async (size) => {
          asked.push(size);
          if (body === undefined) throw late;
          return { body };
        });
    };
    await assert.rejects(read([undefined]), late);
    await assert.rejects(read(["x", undefined]), late);
    await read(["x", "x", "x"]);
    assert.deepEqual(asked, [64, 8, 32, 4, 16, 64]);
  });

  test("beside small objects of other namespaces grows only where no page was long", async () => {
    const sizes = new Map<string, PageSize>();
    const read = async (most: number): Promise<readonly number[]> => {
      const asked: number[] = [];
      const paging = openPaging(500, "/list", sizes);
      for (const at of [0, 1, 2])
        await paging(async (size) => {
          asked.push(size);
          if (at > 0 && size > most) throw tooLong;
          return { body: "x".repeat(at === 0 ? 10 : Math.min(pageBytes, Math.floor((size * pageBytes) / most))) };
        });
      return asked;
    };
    assert.deepEqual(await read(20), [64, 256, 32, 4, 4]);
    assert.deepEqual(await read(20), [4, 4, 4], "a page was too long");
    assert.deepEqual(
      await read(20),
      [4, 4, 4],
      "4 of 20 are long: four times as many would fit, eight times would not",
    );
    assert.deepEqual(await read(1_000), [4, 4, 4]);
    assert.deepEqual(await read(1_000), [4, 16, 16]);
  });

  test("is read in pages that grow while they are short, up to the largest", async () => {
    const sizes = new Map<string, PageSize>();
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
    assert.deepEqual(asked, [64, 256, 500, 500, 500]);
    await read(["x"]);
    assert.deepEqual(asked.slice(5), [500]);
  });

  test("of all namespaces begins with few, and then grows", async () => {
    const transport = heavy(count);
    const cluster = openCluster(transport);
    for (let time = 0; time < 2; time += 1) {
      transport.sizes.length = 0;
      await cluster.list({ do: "list", resource, namespace: "", labels: {} });
      assert.deepEqual(transport.sizes, [16, 16]);
    }
    const sizes = new Map<string, PageSize>();
    const asked: number[] = [];
    const paging = openPaging(500, "/list", sizes, true);
    for (let page = 0; page < 4; page += 1)
      await paging(async (size) => {
        asked.push(size);
        return { body: "" };
      });
    assert.deepEqual(asked, [16, 64, 256, 500]);
  });

  test("has a limit for each page of several objects, and none for a page of one", async () => {
    const limits: (number | undefined)[] = [];
    const paging = openPaging(8)(async (_, limitBytes) => {
      limits.push(limitBytes);
      if (limits.length < 2) throw tooLong;
      return { body: "" };
    });
    await paging;
    assert.deepEqual(limits, [pageBytes, undefined]);
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
