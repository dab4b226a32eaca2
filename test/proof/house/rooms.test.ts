/** The core stays small enough to be read, and nothing reaches into the rooms beside it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crossings, reaching, roomSizes, sideRooms } from "./rooms.ts";

describe("the map", () => {
  test("the core has at most 60,000 lines", () => {
    const size = roomSizes().find(({ room }) => room === "core");
    assert.ok(size !== undefined && size.lines <= 60_000, `${size?.lines} lines`);
  });

  test("a room beside the core is entered by its doors", () => {
    assert.deepEqual(
      reaching().map(({ from, to, line }) => `${from}:${line} imports ${to}`),
      [],
    );
  });

  test("every door is used", () => {
    const entered = new Set(crossings.map(({ to }) => to));
    assert.deepEqual(
      sideRooms.flatMap(({ doors }) => doors).filter((door) => !entered.has(door)),
      [],
    );
  });

  test("every room beside the core has files", () => {
    assert.deepEqual(
      roomSizes().filter(({ files }) => files === 0),
      [],
    );
  });
});
