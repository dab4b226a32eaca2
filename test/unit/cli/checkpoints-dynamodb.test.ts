/**
 * `rekindle checkpoints migrate`: no record is lost, no later record is overwritten, and it can be interrupted at any
 * call.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkpointRef, kubernetesCheckpoints } from "../../../shared/adapters/checkpoints/kubernetes.ts";
import { tableCheckpoints } from "../../../shared/adapters/dynamodb/checkpoints.ts";
import { mergeObject, request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Transport } from "../../../shared/core/http.ts";
import { key, record } from "../adapters/checkpoints/suite.ts";
import { openTable } from "../adapters/dynamodb/table.ts";
import { onTerminal, openTerminal } from "./terminal.ts";

const keyOf = (name: string) => ({ ...key, cluster: "default", name });

const open = async (names: readonly string[]) => {
  const { table, wire } = await openTable();
  const terminal = openTerminal();
  const { transport } = terminal.simulator;
  for (const name of ["team-a", "rekindle"])
    await request(transport, "POST", "/api/v1/namespaces", { metadata: { name } });
  const here = kubernetesCheckpoints(transport);
  const there = tableCheckpoints({ table, cluster: "default" });
  const versions = new Map<string, string>();
  for (const name of names) versions.set(name, await here.save(keyOf(name), record(1), undefined));
  const migrate = (...more: readonly string[]) =>
    terminal.run("checkpoints", "migrate", "--to", `dynamodb://${table}`, ...more);
  const savesThere = async (name: string): Promise<unknown> => (await there.load(keyOf(name)))?.record;
  return { table, wire, terminal, transport, here, there, versions, migrate, savesThere };
};

describe("rekindle checkpoints migrate", () => {
  test("copies every record, on a second call also the ones saved since, and removes them last", async () => {
    const { here, there, versions, migrate, savesThere, table, terminal } = await open(["a", "b", "c"]);
    const queue = { cluster: "default", kind: "Queue", namespace: "", name: "root" };
    await here.save(queue, record(1), undefined);
    assert.match((await migrate("--dry-run")).out, /^4 records: 4 to be copied.*\nnothing was written/);
    assert.deepEqual(await there.hints([]), []);
    assert.match((await migrate()).out, /^4 records: 4 copied, 0 there already, 0 copied and removed here, 0 refused/);
    await here.save(keyOf("b"), record(2), versions.get("b"));
    const again = await migrate();
    assert.match(again.out, /^4 records: 1 copied, 3 there already/);
    assert.ok(again.out.includes(`REKINDLE_CHECKPOINTS=dynamodb://${table}`));
    assert.deepEqual([await savesThere("a"), await savesThere("b")], [record(1), record(2)]);
    assert.match((await migrate("--remove")).out, /4 copied and removed here/);
    assert.match((await migrate()).out, /^0 records/);
    assert.deepEqual((await there.load(queue))?.record, record(1));
    const back = await terminal.run("checkpoints", "migrate", "--from", `dynamodb://${table}`, "--to", "kubernetes");
    assert.match(back.out, /^4 records: 4 copied/);
    assert.deepEqual((await here.load(keyOf("b")))?.record, record(2));
  });

  test("overwrites no later record, and leaves an invalid one where it is", async () => {
    const { there, transport, migrate, savesThere } = await open(["a", "edited", "fine"]);
    await there.save(keyOf("a"), record(5), undefined);
    await mergeObject(transport, { ref: checkpointRef(keyOf("edited"), "rekindle") }, { spec: { saves: 9 } });
    const { code, out, err } = await migrate("--remove");
    assert.equal(code, 1);
    assert.match(out, /^3 records: 0 copied, 0 there already, 1 copied and removed here, 2 refused/);
    assert.match(err, /default\/SparkApplication\/team-a\/a: the other store has a later one/);
    assert.match(err, /default\/SparkApplication\/team-a\/edited: it was edited/);
    assert.deepEqual([await savesThere("a"), await savesThere("fine")], [record(5), record(1)]);
  });

  test("continues after a death at any request", async () => {
    const { terminal, transport, table, savesThere } = await open(["a", "b", "c"]);
    const to = ["checkpoints", "migrate", "--remove", "--to", `dynamodb://${table}`];
    for (let lives = 1; lives <= 8; lives += 1) {
      let left = lives;
      const dying: Transport = {
        ...transport,
        send: (asked) => {
          left -= 1;
          return left < 0 ? Promise.reject(new Error("died")) : transport.send(asked);
        },
      };
      await onTerminal(terminal.simulator, { transport: dying }).run(...to);
    }
    assert.match((await terminal.run(...to)).out, /^0 records/);
    const all = await Promise.all(["a", "b", "c"].map(savesThere));
    assert.deepEqual(all, [record(1), record(1), record(1)]);
  });

  const mistakes: Readonly<Record<string, readonly string[]>> = {
    "write kubernetes, or dynamodb://TABLE": ["--to", "redis"],
    "the same place": ["--to", "kubernetes"],
    "required option '--to <place>' not specified": [],
  };
  for (const [expected, args] of Object.entries(mistakes)) {
    test(`fails with ${expected}`, async () => {
      const { code, err } = await openTerminal().run("checkpoints", "migrate", ...args);
      assert.ok(code > 0);
      assert.ok(err.includes(expected), err);
    });
  }

  test("names a table that does not exist", async () => {
    const { terminal } = await open(["a"]);
    const { code, err } = await terminal.run("checkpoints", "migrate", "--to", "dynamodb://nowhere");
    assert.deepEqual([code, err.includes("DynamoDB GetItem nowhere: there is no such table")], [1, true]);
  });
});
