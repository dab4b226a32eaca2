/** Prices by the labels of nodes: which node has which, and how often nodes are listed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Transport } from "../../../shared/core/http.ts";
import { prices as settingForm } from "../../../shared/deployments/settings/formats.ts";
import { openRates } from "../../../shared/inspection/rates.ts";

const spot = { labels: { pool: "batch", capacity: "spot" }, core: 0.1, gib: 0.01 };
const large = { labels: { pool: "batch" }, core: 0.5, gib: 0.05 };
const byNode = { currency: "EUR", core: 1, gib: 0.1, nodes: [spot, large] };

type Nodes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A server with these nodes, which counts how often they are listed. */
const serving = (nodes: () => Nodes | 403) => {
  const listed: string[] = [];
  const transport: Transport = {
    send: async ({ path }) => {
      listed.push(path);
      const found = nodes();
      if (found === 403) return { status: 403, headers: {}, body: JSON.stringify({ message: "nodes is forbidden" }) };
      const items = Object.entries(found).map(([name, labels]) => ({
        ...{ apiVersion: "v1", kind: "Node" },
        metadata: { name, labels, uid: name, resourceVersion: "1" },
      }));
      return {
        status: 200,
        headers: {},
        body: JSON.stringify({ kind: "NodeList", apiVersion: "v1", metadata: {}, items }),
      };
    },
    stream: () => assert.fail("nodes are not watched"),
  };
  return { transport, listed };
};

const opened = (given: Parameters<typeof serving>[0], prices: Parameters<typeof openRates>[1] = byNode) => {
  const { transport, listed } = serving(given);
  let now = 0;
  const rates = openRates(transport, prices, () => now);
  assert.ok(rates);
  return {
    ...{ rates, listed },
    later: (ms: number) => {
      now += ms;
    },
  };
};

const core = (rate: { readonly core: number } | undefined): number | undefined => rate?.core;

describe("prices by node", () => {
  test("are those of the first entry whose labels the node has, and the usual ones of a node without such labels", async () => {
    const { rates } = opened(() => ({
      a: { pool: "batch", capacity: "spot", zone: "z1" },
      b: { pool: "batch", capacity: "on-demand" },
      c: {},
    }));
    await rates.refresh();
    assert.deepEqual(
      ["a", "b", "c"].map((name) => core(rates.on(name))),
      [0.1, 0.5, 1],
    );
  });

  test("are unknown for a node that was not listed and for a pod without a node", async () => {
    const { rates } = opened(() => ({}));
    await rates.refresh();
    assert.deepEqual([rates.on("a"), rates.on(undefined)], [undefined, undefined]);
  });

  test("of a node that has gone since are remembered", async () => {
    let nodes: Nodes = { a: spot.labels };
    const { rates, later } = opened(() => nodes);
    await rates.refresh();
    nodes = {};
    later(300_000);
    await rates.refresh();
    assert.equal(core(rates.on("a")), 0.1);
  });

  test("are listed at most once in five minutes, however many ask", async () => {
    const { rates, listed, later } = opened(() => ({}));
    await Promise.all([rates.refresh(), rates.refresh()]);
    later(299_999);
    await rates.refresh();
    assert.equal(listed.length, 1);
    later(1);
    await rates.refresh();
    assert.equal(listed.length, 2);
  });

  test("without the right to list nodes are all unknown", async () => {
    const { rates } = opened(() => 403);
    await rates.refresh();
    assert.equal(rates.on("a"), undefined);
  });

  test("that depend on no node cost no request, and are the usual ones everywhere", async () => {
    const { rates, listed } = opened(() => ({}), { ...byNode, nodes: [] });
    await rates.refresh();
    assert.deepEqual([core(rates.on("a")), core(rates.on(undefined)), listed.length], [1, 1, 0]);
  });
});

describe("the setting prices", () => {
  const schema = settingForm();
  test("takes the usual price alone, and none", () => {
    assert.deepEqual(schema.parse('{"currency": "US$", "core": 0.04, "gib": 0.005}'), {
      ...{ currency: "US$", core: 0.04, gib: 0.005, nodes: [] },
    });
    assert.deepEqual([schema.parse(undefined), schema.parse(" ")], [undefined, undefined]);
  });

  for (const wrong of ['{"currency": "US$", "core": 0.04}', '{"currency": "US$", "core": -1, "gib": 0}', "0.04", "{"])
    test(`refuses ${wrong}`, () => assert.ok(!schema.safeParse(wrong).success));

  test("refuses a key that it does not know, so that a misspelt price is not ignored", () => {
    assert.ok(!schema.safeParse({ ...byNode, spot: { core: 1, gib: 1 } }).success);
  });
});
