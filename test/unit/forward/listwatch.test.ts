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
  const waits: number[] = [];
  await follow({
    transport,
    resource: pods,
    namespace: "ns",
    selector: "a=b",
    trim,
    changed: (change) => told.push(brief(change)),
    synced: (objects) => synced.push(objects),
    troubled: (_, waitMs) => waits.push(waitMs),
    random: () => random,
    signal: over.signal,
    now: time.now,
    pause: time.pause,
  });
  return { told, synced, waits, asked: transport.asked.slice(0, scenes.length), time };
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
  "a list, then its changes": {
    scenes: [a1, { watch: [line("ADDED", object("b", "6")), modified("a", "7"), line("DELETED", object("b", "8"))] }],
    told: ["+a1", "+b6", "a1>7", "-b8"],
  },
  "a list of several pages": {
    scenes: [
      { list: [object("a", "1")], version: "5", next: "more" },
      { list: [object("b", "2")], version: "5" },
    ],
    told: ["+a1", "+b2"],
  },
  "a watch that ends goes on from its last event": {
    scenes: [a1, { watch: [modified("a", "7")] }, { watch: [modified("a", "9")] }],
    told: ["+a1", "a1>7", "a7>9"],
    froms: [undefined, "5", "7"],
  },
  "a bookmark moves the cursor and tells nothing": {
    scenes: [a1, { watch: [bookmark("40")] }, { watch: [bookmark("41")] }],
    told: ["+a1"],
    froms: [undefined, "5", "40"],
  },
  "410 in the stream: listed again, differences only": {
    scenes: [
      { list: [object("a", "1"), object("b", "2"), object("c", "3")], version: "5" },
      { watch: [modified("a", "7"), gone410] },
      { list: [object("a", "7"), object("b", "8"), object("d", "9")], version: "10" },
      { watch: [modified("d", "11")] },
    ],
    told: ["+a1", "+b2", "+c3", "a1>7", "b2>8", "+d9", "-c3", "d9>11"],
    froms: [undefined, "5", undefined, "10"],
  },
  "410 instead of a stream": {
    scenes: [a1, { status: 410 }, { list: [], version: "9" }],
    told: ["+a1", "-a1"],
    waits: 1,
  },
  "another error in the stream": {
    scenes: [a1, { watch: [line("ERROR", { code: 500, message: "etcd" })] }, a1],
    told: ["+a1"],
    waits: 1,
  },
  "half a line: listed again": {
    scenes: [
      a1,
      { watch: [modified("a", "7"), '{"type":"MODIFIED","object":{"kind'] },
      { list: [object("a", "8")], version: "9" },
    ],
    told: ["+a1", "a1>7", "a7>8"],
    froms: [undefined, "5", undefined],
  },
  "an event without an object, of no known type, or without identity: listed again": {
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
  "a reset goes on where it was": {
    scenes: [a1, { watch: [modified("a", "7")], ending: "reset" }, { watch: [modified("a", "8")] }],
    told: ["+a1", "a1>7", "a7>8"],
    froms: [undefined, "5", "7"],
    waits: 1,
  },
  "a silence is left and gone on from": {
    scenes: [a1, { watch: [modified("a", "7")], ending: "hang" }, { watch: [modified("a", "8")] }],
    told: ["+a1", "a1>7", "a7>8"],
    froms: [undefined, "5", "7"],
  },
  "a repeated event is told once": {
    scenes: [a1, { watch: [line("ADDED", object("a", "1")), modified("a", "7"), modified("a", "7")] }],
    told: ["+a1", "a1>7"],
  },
  "another object under the same name": {
    scenes: [
      a1,
      { watch: [line("ADDED", object("a", "7", "second")), line("DELETED", object("a", "8"))] },
      { watch: [bookmark("9")] },
    ],
    told: ["+a1", "-a1", "+a7", "-a8"],
  },
  "another object under the same name, found by a list": {
    scenes: [a1, { watch: [gone410] }, { list: [object("a", "7", "second")], version: "9" }],
    told: ["+a1", "-a1", "+a7"],
  },
  "a list that breaks on its second page says what it saw, and nothing is gone": {
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
  "a resource that is not served yet": {
    scenes: [{ status: 404 }, { unreachable: "refused" }, a1],
    told: ["+a1"],
    waits: 2,
  },
  "a restored server whose versions went back": {
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

describe("following a resource", () => {
  for (const [name, { scenes, told, froms, waits }] of Object.entries(rows)) {
    it(name, async () => {
      const seen = await watched(scenes);
      assert.deepEqual(seen.told, told);
      const cursors = seen.asked.map((path) => /[?&]resourceVersion=(\w+)/.exec(path)?.[1]);
      assert.deepEqual(cursors, froms ?? cursors);
      assert.equal(seen.waits.length >= (waits ?? 0), true);
    });
  }

  it("asks for pages, bookmarks and an end, with its selector", async () => {
    const { asked } = await watched([a1, { watch: [bookmark("6")] }], 0.5);
    assert.deepEqual(asked, [
      "/api/v1/namespaces/ns/pods?labelSelector=a%3Db&limit=250",
      "/api/v1/namespaces/ns/pods?labelSelector=a%3Db&watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=300",
    ]);
  });

  it("waits longer with every failure, up to half a minute, and starts small again after a success", async () => {
    const down: Scene = { unreachable: "refused" };
    const failures = Array.from({ length: 9 }, () => down);
    const { waits } = await watched([...failures, a1, { watch: [bookmark("6")] }, down, a1], 0.999999);
    const grown = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 500];
    assert.deepEqual(
      waits.slice(0, 10).map((ms) => Math.round(ms)),
      grown,
    );
  });

  it("does not wait longer and longer for a connection that is cut after every event", async () => {
    const cut = (version: string): Scene => ({ watch: [modified("a", version)], ending: "reset" });
    const { waits, told } = await watched([a1, cut("6"), cut("7"), cut("8"), cut("9")]);
    assert.deepEqual(waits.slice(0, 4), [250, 250, 250, 250]);
    assert.equal(told.length, 5);
  });

  it("waits as long as the server asks", async () => {
    const { waits } = await watched([{ status: 429, headers: { "retry-after": "7" } }, a1]);
    assert.equal(waits[0], 7_000);
  });

  it("does not hurry a server that ends every watch at once", async () => {
    const slam: Scene = { watch: [] };
    const { waits } = await watched([a1, slam, slam, slam]);
    assert.deepEqual(waits.slice(0, 3), [250, 500, 1_000]);
  });

  it("does not list in a hurry when every watch is refused as too old", async () => {
    const gone: Scene = { watch: [gone410] };
    const { waits, synced } = await watched([a1, gone, a1, gone, a1, gone]);
    assert.deepEqual(waits.slice(0, 3), [250, 500, 1_000]);
    assert.deepEqual(synced, [1, 1, 1]);
  });

  it("lists objects that are too large for a page in smaller ones", async () => {
    const { asked, told, waits } = await watched([{ tooLong: true }, { list: [object("a", "1")], version: "5" }]);
    assert.deepEqual(
      asked.map((path) => /limit=(\d+)/.exec(path)?.[1]),
      ["250", "32"],
    );
    assert.deepEqual([told, waits.slice(0, 1)], [["+a1"], []]);
  });

  it("keeps of an object only what is trimmed", async () => {
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
