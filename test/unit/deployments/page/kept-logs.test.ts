/** The list of an application's kept logs on the page: read rarely, and only where there may be any. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openKeptLogs } from "../../../../shared/deployments/page/kept-logs.ts";
import type { RecordView } from "../../../../shared/inspection/record.ts";

const named = { kind: "SparkApplication", namespace: "team-a", name: "etl" };
const record = (saves: number, logs = true): RecordView => ({ schema: 1, uid: "u", saves, logs, memory: {} });
const log = { attempt: 2, pod: "etl-driver", uid: "u-2", at: 1_000, until: 9_000, text: "" };
const listed = [{ attempt: 2, pod: "etl-driver", at: 1_000 }];

/** The list of a table of records whose reads are counted. */
const open = (fails = 0) => {
  const count = { reads: 0 };
  const load = async () => {
    count.reads += 1;
    if (count.reads <= fails) throw new Error("the table is away");
    return { record: { memory: { logs: [log] } }, version: "1" };
  };
  const send = () => Promise.reject(new Error("no request is needed"));
  const table = { name: "records", cluster: "blue", records: { load } };
  return { count, kept: openKeptLogs({ transport: { send, stream: send }, table }) };
};

describe("the list of kept logs", () => {
  test("is not read where the record says that none are kept", async () => {
    const { kept, count } = open();
    assert.deepEqual([await kept(named), await kept(named, record(1, false)), count.reads], [[], [], 0]);
  });

  test("is read once for each save of the record", async () => {
    const { kept, count } = open();
    for (const saves of [1, 1, 2, 2]) assert.deepEqual(await kept(named, record(saves)), listed);
    assert.equal(count.reads, 2);
  });

  test("is empty after a failed read, and read again", async () => {
    const { kept, count } = open(1);
    assert.deepEqual([await kept(named, record(1)), await kept(named, record(1))], [[], listed]);
    assert.equal(count.reads, 2);
  });
});
