/** Snapshots: a restored run repeats itself byte for byte, and branches do not affect each other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mapsPath, open, podsPath, type Stand, sleeper, submit } from "./stand.ts";

const scripts = { pi: [{ executors: { "1": { runMs: 700, exitCode: 1 } } }] };

const dump = ({ simulator: { store } }: Stand): string =>
  JSON.stringify(store.tables().map((table) => [table, store.list(table)]));

test("the same inputs give the same bytes", () => {
  const dumps = [1, 2].map(() => {
    const stand = open({ scripts });
    submit(stand);
    stand.rest();
    return dump(stand);
  });
  assert.equal(dumps[0], dumps[1]);
});

test("another seed gives other identities", () => {
  const uids = ["a", "b"].map((seed) => open({ seed }).simulator.store.get("namespaces", "default")?.metadata.uid);
  assert.notEqual(uids[0], uids[1]);
});

test("a run that is restored from any moment ends as the first did", () => {
  const stand = open({ scripts });
  const { simulator } = stand;
  submit(stand);
  const states = [simulator.snapshot()];
  for (let due = simulator.clock.nextDue(); due !== undefined; due = simulator.clock.nextDue()) {
    simulator.clock.advanceTo(due);
    states.push(simulator.snapshot());
  }
  const end = dump(stand);
  assert.ok(states.length > 15);
  for (const state of states) {
    simulator.restore(state);
    stand.rest();
    assert.equal(dump(stand), end);
  }
});

test("branches from one snapshot do not affect each other, nor the snapshot", () => {
  const stand = open();
  stand.call("POST", podsPath, sleeper("p"));
  const state = stand.simulator.snapshot();
  const before = dump(stand);
  const branches = ["a", "b"].map((name) => {
    stand.simulator.restore(state);
    stand.call("POST", mapsPath, { metadata: { name } });
    stand.rest();
    return { state: stand.simulator.snapshot(), dump: dump(stand) };
  });
  for (const branch of branches) {
    stand.simulator.restore(branch.state);
    assert.equal(dump(stand), branch.dump);
  }
  stand.simulator.restore(state);
  assert.equal(dump(stand), before);
});

test("a restored log still serves watches and exact lists of earlier versions", () => {
  const stand = open();
  stand.call("POST", mapsPath, { metadata: { name: "a" } });
  const revision = stand.simulator.store.revision();
  const state = stand.simulator.snapshot();
  stand.call("POST", mapsPath, { metadata: { name: "b" } });
  stand.simulator.restore(state);
  stand.call("POST", mapsPath, { metadata: { name: "c" } });
  const since = stand.simulator.store.since(revision).map(({ object }) => object.metadata.name);
  assert.deepEqual(since, ["c"]);
  assert.equal(
    stand.simulator.store.listAt("configmaps", revision).some(({ metadata }) => metadata.name === "c"),
    false,
  );
});
