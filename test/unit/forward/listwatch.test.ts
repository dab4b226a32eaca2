/** Watches and their failures: each change is delivered once afterwards. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Change } from "../../../shared/forward/keys.ts";
import { follow } from "../../../shared/forward/listwatch.ts";
import { trim } from "../../../shared/kube/trim.ts";
import { bookmark, line, object, type Scene, scriptedTransport, turnedTime } from "./fakes.ts";

const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" } as const;

/** Returns a change in a few letters: `+a1` new, `a1>2` changed, `-a2` deleted. */
const brief = ({ before, after }: Change): string => {
  if (before === undefined) return `+${after?.metadata.name}${after?.metadata.resourceVersion}`;
  const { name, resourceVersion } = before.metadata;
  return after === undefined
    ? `-${name}${resourceVersion}`
    : `${name}${resourceVersion}>${after.metadata.resourceVersion}`;
};

const watched = async (scenes: readonly Scene[], random = 0) => {
  const time = turnedTime();
  const over = new AbortController();
  const transport = scriptedTransport(scenes, () => over.abort());
  const told: string[] = [];
  const synced: number[] = [];
  const bases: string[] = [];
  const waits: number[] = [];
  await follow({
    transport,
    resource: pods,
    namespace: "ns",
    selector: "a=b",
    trim,
    changed: (change) => told.push(brief(change)),
    synced: (objects, before) => {
      synced.push(objects);
      bases.push(before);
    },
    troubled: (_, waitMs) => waits.push(waitMs),
    random: () => random,
    signal: over.signal,
    now: time.now,
    pause: time.pause,
  });
  return { told, synced, bases, waits, asked: transport.asked.slice(0, scenes.length), time };
};

const a1: Scene = { list: [object("a", "1")], version: "5" };
const modified = (name: string, version: string): string => line("MODIFIED", object(name, version));
const gone410 = line("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" });

type Row = {
  scenes: readonly Scene[];
  told: readonly string[];
  froms?: readonly (string | undefined)[];
  waits?: number;
};

const rows: Record<string, Row> = {
  "reports a list, then its changes": {
    scenes: [a1, { watch: [line("ADDED", object("b", "6")), modified("a", "7"), line("DELETED", object("b", "8"))] }],
    told: ["+a1", "+b6", "a1>7", "-b8"],
  },
  "reads a list of several pages": {
    scenes: [
      { list: [object("a", "1")], version: "5", next: "more" },
      { list: [object("b", "2")], version: "5" },
    ],
    told: ["+a1", "+b2"],
  },
  "continues from the last event after a watch ends": {
    scenes: [a1, { watch: [modified("a", "7")] }, { watch: [modified("a", "9")] }],
    told: ["+a1", "a1>7", "a7>9"],
    froms: [undefined, "5", "7"],
  },
  "advances its cursor by a bookmark, and reports no change": {
    scenes: [a1, { watch: [bookmark("40")] }, { watch: [bookmark("41")] }],
    told: ["+a1"],
    froms: [undefined, "5", "40"],
  },
  "lists again after 410 in the stream, and reports the differences only": {
    scenes: [
      { list: [object("a", "1"), object("b", "2"), object("c", "3")], version: "5" },
      { watch: [modified("a", "7"), gone410] },
      { list: [object("a", "7"), object("b", "8"), object("d", "9")], version: "10" },
      { watch: [modified("d", "11")] },
    ],
    told: ["+a1", "+b2", "+c3", "a1>7", "b2>8", "+d9", "-c3", "d9>11"],
    froms: [undefined, "5", undefined, "10"],
  },
  "lists again after 410 in place of a stream": {
    scenes: [a1, { status: 410 }, { list: [], version: "9" }],
    told: ["+a1", "-a1"],
    waits: 1,
  },
  "lists again after another error in the stream": {
    scenes: [a1, { watch: [line("ERROR", { code: 500, message: "etcd" })] }, a1],
    told: ["+a1"],
    waits: 1,
  },
  "lists again after half a line": {
    scenes: [
      a1,
      { watch: [modified("a", "7"), '{"type":"MODIFIED","object":{"kind'] },
      { list: [object("a", "8")], version: "9" },
    ],
    told: ["+a1", "a1>7", "a7>8"],
    froms: [undefined, "5", undefined],
  },
  "lists again after an event without an object, of an unknown type, or without identity": {
    scenes: [
      a1,
      { watch: ['{"type":"MODIFIED"}'] },
      a1,
      { watch: [line("SOMETHING", object("a", "2"))] },
      a1,
      { watch: ["[]"] },
      a1,
    ],
    told: ["+a1"],
  },
  "continues from its cursor after a reset": {
    scenes: [a1, { watch: [modified("a", "7")], ending: "reset" }, { watch: [modified("a", "8")] }],
    told: ["+a1", "a1>7", "a7>8"],
    froms: [undefined, "5", "7"],
    waits: 1,
  },
  "ends a silent watch and continues from its cursor": {
    scenes: [a1, { watch: [modified("a", "7")], ending: "hang" }, { watch: [modified("a", "8")] }],
    told: ["+a1", "a1>7", "a7>8"],
    froms: [undefined, "5", "7"],
  },
  "reports a repeated event once": {
    scenes: [a1, { watch: [line("ADDED", object("a", "1")), modified("a", "7"), modified("a", "7")] }],
    told: ["+a1", "a1>7"],
  },
  "reports another object of the same name as a deletion and a creation": {
    scenes: [
      a1,
      { watch: [line("ADDED", object("a", "7", "second")), line("DELETED", object("a", "8"))] },
      { watch: [bookmark("9")] },
    ],
    told: ["+a1", "-a1", "+a7", "-a8"],
  },
  "reports another object of the same name, found by a list, as a deletion and a creation": {
    scenes: [a1, { watch: [gone410] }, { list: [object("a", "7", "second")], version: "9" }],
    told: ["+a1", "-a1", "+a7"],
  },
  "reports the first page of a list that breaks on its second, and reports no deletion": {
    scenes: [
      { list: [object("a", "1"), object("b", "2")], version: "5" },
      { watch: [gone410] },
      { list: [object("a", "3")], version: "9", next: "x" },
      { status: 410 },
      { list: [object("a", "3"), object("b", "2")], version: "10" },
    ],
    told: ["+a1", "+b2", "a1>3"],
    waits: 2,
  },
  "tries again while the resource is not served": {
    scenes: [{ status: 404 }, { unreachable: "refused" }, a1],
    told: ["+a1"],
    waits: 2,
  },
  "reports changes of a restored server whose versions went back": {
    scenes: [
      a1,
      { watch: [modified("a", "7")] },
      { status: 410 },
      { list: [object("a", "2")], version: "3" },
      { watch: [modified("a", "4")] },
    ],
    told: ["+a1", "a1>7", "a7>2", "a2>4"],
    froms: [undefined, "5", "7", undefined, "3"],
  },
};

describe("a watch of a resource", () => {
  for (const [name, { scenes, told, froms, waits }] of Object.entries(rows)) {
    it(name, async () => {
      const seen = await watched(scenes);
      assert.deepEqual(seen.told, told);
      const cursors = seen.asked.map((path) => /[?&]resourceVersion=(\w+)/.exec(path)?.[1]);
      assert.deepEqual(cursors, froms ?? cursors);
      assert.equal(seen.waits.length >= (waits ?? 0), true);
    });
  }

  it("requests pages, bookmarks and a time limit, with its selector", async () => {
    const { asked } = await watched([a1, { watch: [bookmark("6")] }], 0.5);
    assert.deepEqual(asked, [
      "/api/v1/namespaces/ns/pods?labelSelector=a%3Db&limit=250",
      "/api/v1/namespaces/ns/pods?labelSelector=a%3Db&watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300",
    ]);
  });

  it("waits longer after each failure, up to half a minute, and briefly again after a success", async () => {
    const down: Scene = { unreachable: "refused" };
    const failures = Array.from({ length: 9 }, () => down);
    const { waits } = await watched([...failures, a1, { watch: [bookmark("6")] }, down, a1], 0.999999);
    const grown = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 500];
    assert.deepEqual(
      waits.slice(0, 10).map((ms) => Math.round(ms)),
      grown,
    );
  });

  it("does not wait longer each time for a connection that is cut after every event", async () => {
    const cut = (version: string): Scene => ({ watch: [modified("a", version)], ending: "reset" });
    const { waits, told } = await watched([a1, cut("6"), cut("7"), cut("8"), cut("9")]);
    assert.deepEqual(waits.slice(0, 4), [250, 250, 250, 250]);
    assert.equal(told.length, 5);
  });

  it("waits as long as the server requests", async () => {
    const { waits } = await watched([{ status: 429, headers: { "retry-after": "7" } }, a1]);
    assert.equal(waits[0], 7_000);
  });

  it("waits longer each time for a server that ends every watch at once", async () => {
    const slam: Scene = { watch: [] };
    const { waits } = await watched([a1, slam, slam, slam]);
    assert.deepEqual(waits.slice(0, 3), [250, 500, 1_000]);
  });

  it("waits longer each time for a list while every watch is refused as too old", async () => {
    const gone: Scene = { watch: [gone410] };
    const { waits, synced, bases } = await watched([a1, gone, a1, gone, a1, gone]);
    assert.deepEqual(waits.slice(0, 3), [250, 500, 1_000]);
    assert.deepEqual(synced, [1, 1, 1]);
    assert.deepEqual(bases, ["nothing", "list", "list"]);
  });

  it("lists objects that are too large for a page in smaller pages", async () => {
    const { asked, told, waits } = await watched([{ tooLong: true }, { list: [object("a", "1")], version: "5" }]);
    assert.deepEqual(
      asked.map((path) => /limit=(\d+)/.exec(path)?.[1]),
      ["250", "32"],
    );
    assert.deepEqual([told, waits.slice(0, 1)], [["+a1"], []]);
  });

  it("keeps the trimmed fields of an object only", async () => {
    const fat = { ...object("a", "1"), spec: { containers: [] } };
    const changes: Change[] = [];
    const over = new AbortController();
    const { now, pause } = turnedTime();
    await follow({
      ...{
        transport: scriptedTransport([{ list: [fat], version: "5" }], () => over.abort()),
        resource: pods,
        namespace: undefined,
      },
      ...{
        selector: undefined,
        trim,
        synced: () => {},
        troubled: () => {},
        random: () => 0,
        now,
        pause,
        signal: over.signal,
      },
      changed: (change) => changes.push(change),
    });
    assert.deepEqual(changes, [{ before: undefined, after: object("a", "1") }]);
  });
});
