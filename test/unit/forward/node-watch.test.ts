/** The watch of nodes: a deleted node is passed on once, and a missing right is asked for again after a while. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startNodeWatch } from "../../../shared/forward/node-watch.ts";
import { line, object, type Scene, scriptedTransport, turnedTime } from "./fakes.ts";

const node = (name: string, version: string) => ({ ...object(name, version), kind: "Node" });

const watched = async (scenes: readonly Scene[]) => {
  const time = turnedTime();
  const deleted: string[] = [];
  const told: string[] = [];
  const waits: number[] = [];
  let over = (): void => {};
  const ended = new Promise<void>((resolve) => {
    over = resolve;
  });
  const stop = startNodeWatch({
    transport: scriptedTransport(scenes, () => over()),
    report: (level, text) => {
      if (level !== "debug") told.push(text);
    },
    deleted: async (name, uid) => void deleted.push(`${name} ${uid}`),
    now: time.now,
    random: () => 0,
    pause: async (ms, signal) => {
      waits.push(ms);
      await time.pause(ms, signal);
    },
  });
  await ended;
  await stop();
  return { deleted, told, waits };
};

test("a node that is deleted is passed on, and one that is new or changes is not", async () => {
  const { deleted, told } = await watched([
    { list: [node("a", "1"), node("b", "2")], version: "5" },
    {
      watch: [
        line("ADDED", node("c", "6")),
        line("MODIFIED", node("a", "7")),
        line("DELETED", node("b", "8")),
        line("DELETED", node("c", "9")),
      ],
    },
  ]);
  assert.deepEqual(deleted, ["b uid-b", "c uid-c"]);
  assert.deepEqual(told, []);
});

test("a node that a new list lacks is passed on", async () => {
  const gone = line("ERROR", { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" });
  const { deleted } = await watched([
    { list: [node("a", "1"), node("b", "2")], version: "5" },
    { watch: [gone] },
    { list: [node("a", "1")], version: "9" },
  ]);
  assert.deepEqual(deleted, ["b uid-b"]);
});

test("a missing right is told once, and asked for again after ten minutes", async () => {
  const { told, waits } = await watched([{ status: 403 }, { status: 403 }, { list: [], version: "5" }]);
  assert.deepEqual(told, ["nodes are not watched: grant list and watch of nodes (rekindle manifests --nodes)"]);
  assert.deepEqual(waits.slice(0, 2), [600_000, 600_000]);
});
