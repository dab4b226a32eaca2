/** The contents of a stream, its listener, and the isolation of streams from each other's listeners. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deliveryKey } from "../../../shared/core/key.ts";
import { capacity, namespacesListener } from "../../../shared/core/updates.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { acknowledgementOf } from "../../../shared/updates/acknowledgement.ts";
import { message, toy } from "../engine/fakes.ts";
import { acknowledged, listener, openStreet, type Street, silence } from "./street.ts";

const hour = 3_600_000;
const told = ({ heard }: Street): readonly string[] =>
  heard.filter(({ answered }) => answered === "acknowledged").map(({ state, sequence }) => `${sequence} ${state}`);
const namespace = (annotations: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "ns", uid: "ns-1", resourceVersion: "1", annotations },
});
const annotation = "rekindle.dev/updates-to";

describe("a full outbox", () => {
  test("drops states in between, but no end, first or newest one, and delivers the rest in order", async () => {
    const street = openStreet();
    street.answer = () => silence;
    for (let attempt = 1; attempt <= 40; attempt++) {
      await street.enter("RUNNING", { attempt });
      await street.enter(attempt % 10 === 0 ? "FAILED" : "PENDING_RERUN", { attempt, terminal: attempt % 10 === 0 });
    }
    const kept = street.fixture.record()?.outbox?.entries ?? [];
    assert.equal(kept.length, capacity);
    assert.deepEqual([kept[0]?.sequence, kept.at(-1)?.sequence], [1, 80]);
    assert.deepEqual(
      kept.filter(({ terminal }) => terminal).map(({ attempt }) => attempt),
      [10, 20, 30, 40],
    );
    street.answer = () => acknowledged;
    await street.pass(hour);
    assert.deepEqual(
      told(street),
      kept.map(({ sequence, state }) => `${sequence} ${state}`),
    );
  });

  test("drops acknowledged updates before any other", async () => {
    const street = openStreet();
    for (let attempt = 1; attempt <= 100; attempt++) await street.enter("RUNNING", { attempt });
    assert.ok((street.fixture.record()?.outbox?.entries.length ?? 0) <= capacity / 2 + 1);
    assert.equal(told(street).length, 100);
  });
});

describe("a separate acknowledgement", () => {
  const acknowledge = async (street: Street, by: string): Promise<void> => {
    const asked = acknowledgementOf(message, street.heard.at(-1)?.id ?? "", by);
    assert.ok(asked);
    await street.queue.send(asked, `${by} ${street.fixture.time.now}`);
    await street.pass(0);
  };
  const other = "https://other.example/hook";
  const own = (to: string) => toy({ annotations: { [annotation]: to } });

  const rows: readonly (readonly [by: string, counts: number])[] = [
    [listener, 1],
    ["https://LISTENER.example:443/hook", 1],
    [other, 0],
    [`${listener}/`, 0],
    ["operator", 0],
    ["", 0],
  ];
  for (const [by, counts] of rows)
    test(`of ${by === "" ? "nobody" : by} counts ${counts === 1 ? "" : "not "}for the operator's listener`, async () => {
      const street = openStreet();
      street.answer = () => silence;
      await street.enter("RUNNING");
      await acknowledge(street, by);
      assert.equal((await street.cursor())?.acknowledged, counts);
    });

  test("of the earlier listener does not count once the update was sent to the next one", async () => {
    const street = openStreet();
    street.answer = () => silence;
    street.fixture.put(own(other));
    await street.enter("RUNNING");
    street.fixture.put(own("https://next.example/"));
    await street.resync();
    assert.equal(street.heard.at(-1)?.to, "https://next.example/");
    await acknowledge(street, other);
    assert.equal((await street.cursor())?.acknowledged, 0);
    await acknowledge(street, "https://next.example/");
    assert.equal((await street.cursor())?.acknowledged, 1);
  });

  test("of the listener that got the update counts, although another one was configured since", async () => {
    const street = openStreet();
    street.answer = () => silence;
    street.fixture.put(own(other));
    await street.enter("RUNNING");
    street.fixture.put(own("https://next.example/"));
    await acknowledge(street, other);
    assert.equal((await street.cursor())?.acknowledged, 1);
  });
});

describe("the next object of a name", () => {
  test("does not wait for the listener of the deleted one, whose updates continue under the key", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("RUNNING");
    street.fixture.put(toy({ uid: "toy-2" }));
    await street.enter("SUBMITTED");
    await street.enter("SUBMITTED");
    assert.equal(street.fixture.record()?.uid, "toy-2");
    street.answer = () => acknowledged;
    await street.pass(hour);
    assert.deepEqual(told(street), ["1 RUNNING", "2 DELETED", "3 SUBMITTED"]);
  });

  test("begins a stream of its own once every update was delivered", async () => {
    const street = openStreet();
    await street.enter("COMPLETED", { terminal: true });
    street.fixture.objects.delete("toys bear");
    await street.resync();
    street.fixture.put(toy({ uid: "toy-2" }));
    await street.enter("SUBMITTED");
    assert.deepEqual(told(street), ["1 COMPLETED", "1 SUBMITTED"]);
    assert.equal(new Set(street.heard.map(({ id }) => id)).size, 2);
  });
});

describe("a listener", () => {
  test("is taken from the object before its namespace, and from the namespace before the operator", async () => {
    const street = openStreet();
    await street.enter("A");
    street.fixture.objects.set("namespaces ns", namespace({ [annotation]: "https://namespace.example/" }));
    await street.pass(hour);
    await street.enter("B");
    street.fixture.put(toy({ annotations: { [annotation]: "https://own.example/" } }));
    await street.enter("C");
    street.fixture.put(toy({ annotations: { [annotation]: "none" } }));
    await street.enter("D");
    assert.deepEqual(
      street.heard.map(({ to, state }) => [to, state]),
      [
        [listener, "A"],
        ["https://namespace.example/", "B"],
        ["https://own.example/", "C"],
      ],
    );
    await street.resync();
    assert.deepEqual([street.fixture.record()?.outbox, await street.cursor()], [undefined, undefined]);
  });

  test("that replaces an unreachable one gets that one's unacknowledged updates at once, in order", async () => {
    const street = openStreet();
    street.answer = ({ to }) => (to.includes("new.example") ? acknowledged : silence);
    for (const state of ["SUBMITTED", "RUNNING"]) await street.enter(state);
    await street.pass(hour / 2);
    street.fixture.put(toy({ annotations: { [annotation]: "https://new.example/" } }));
    await street.enter("RUNNING");
    assert.deepEqual(told(street), ["1 SUBMITTED", "2 RUNNING"]);
  });

  test("that replaced another while no process ran gets that one's unacknowledged updates in order", async () => {
    const street = openStreet();
    street.answer = ({ to, sequence }) => (to.includes("new.example") || sequence === 1 ? acknowledged : silence);
    for (const state of ["SUBMITTED", "RUNNING", "FAILING"]) await street.enter(state);
    street.forget();
    street.fixture.put(toy({ annotations: { [annotation]: "https://new.example/" } }));
    street.fixture.time.now += 24 * hour;
    await street.resync();
    assert.deepEqual(
      street.heard.filter(({ to }) => to.includes("new.example")).map(({ sequence, state }) => `${sequence} ${state}`),
      ["2 RUNNING", "3 FAILING"],
    );
  });

  test("is saved in the record although the message of its change was lost", async () => {
    const street = openStreet();
    street.answer = ({ to }) => (to.includes("new.example") ? acknowledged : silence);
    await street.enter("RUNNING");
    street.fixture.put(toy({ annotations: { [annotation]: "https://new.example/" } }));
    await street.pass(hour);
    assert.deepEqual(told(street), ["1 RUNNING"]);
    assert.equal(street.fixture.record()?.outbox?.to, "https://new.example/");
  });

  test("that is refused is reported by one Event, and blocks nothing", async () => {
    const street = openStreet();
    street.answer = () => ({ did: "refused", error: "host inside leads to 10.0.0.1" });
    await street.enter("SUBMITTED");
    await street.enter("RUNNING");
    await street.pass(hour);
    const events = [...street.fixture.objects.values()].filter(({ kind }) => kind === "Event");
    assert.deepEqual(
      events.map(({ reason, message: text }) => [reason, text]),
      [["UpdatesRefused", "status updates are not sent: host inside leads to 10.0.0.1"]],
    );
    assert.equal(street.fixture.record()?.outbox?.entries.length, 2);
  });

  test("is not read by a step without an update, and such a step writes nothing", async () => {
    const street = openStreet();
    await street.enter("RUNNING");
    const before = [...street.fixture.checkpoints.all()];
    for (let times = 0; times < 100; times++) {
      await step(street.world, message);
      await step(street.world, { ...deliveryKey(message), reason: "copy" });
    }
    assert.deepEqual([...street.fixture.checkpoints.all()], before);
    assert.equal(street.heard.length, 1);
  });

  test("that its namespace or the operator names stands in no record", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("A");
    assert.equal(street.fixture.record()?.outbox?.to, "operator");
    const secret = "?sig=token";
    street.fixture.objects.set("namespaces ns", namespace({ [annotation]: `https://namespace.example/${secret}` }));
    await street.pass(hour);
    await street.enter("B");
    street.fixture.objects.delete("toys bear");
    await street.resync();
    const records = JSON.stringify([...street.fixture.checkpoints.all()]);
    assert.match(records, /to\\":\\"namespace [0-9a-f]{16}\\"/);
    assert.doesNotMatch(records, /sig=token|listener\.example/);
    street.answer = () => acknowledged;
    await street.pass(hour);
    assert.deepEqual(told(street), ["1 A", "2 B", "3 DELETED"]);
    assert.ok(street.heard.slice(-3).every(({ to }) => to === `https://namespace.example/${secret}`));
  });

  test("that its namespace no longer names gets nothing more, also of an object that is gone", async () => {
    const street = openStreet();
    street.answer = ({ to }) => (to.includes("old.example") ? silence : acknowledged);
    street.fixture.objects.set("namespaces ns", namespace({ [annotation]: "https://old.example/" }));
    await street.enter("A");
    street.fixture.objects.delete("toys bear");
    await street.resync();
    street.fixture.objects.set("namespaces ns", namespace({ [annotation]: "https://new.example/" }));
    await street.pass(hour);
    assert.deepEqual(told(street), ["1 A", "2 DELETED"]);
    assert.ok(street.heard.slice(-2).every(({ to }) => to === "https://new.example/"));
  });

  test("of its namespace cannot be named by an object", async () => {
    const street = openStreet();
    const mark = namespacesListener("https://namespace.example/");
    street.fixture.objects.set("namespaces ns", namespace({ [annotation]: "https://namespace.example/" }));
    street.fixture.put(toy({ annotations: { [annotation]: mark } }));
    await street.enter("A");
    assert.match(street.heard[0]?.to ?? "", /^refused: /);
  });

  test("of the operator counts if namespaces may not be read", async () => {
    const street = openStreet();
    street.fixture.before = (call) => {
      if (call.startsWith("get namespaces")) throw new Error("forbidden");
    };
    await street.enter("RUNNING");
    assert.deepEqual(told(street), ["1 RUNNING"]);
  });
});

test("NonStrictRecoveryCorruptedFile: an outbox that cannot be read is dropped, and a stream begins anew", async () => {
  const street = openStreet({ strict: false });
  street.answer = () => silence;
  await street.enter("SUBMITTED");
  const kept = await street.fixture.checkpoints.load(message);
  const record = JSON.parse(
    (street.fixture.checkpoints.text(message) ?? "").replace('"sequence":1', '"sequence":"one"'),
  );
  await street.fixture.checkpoints.save(message, record, kept?.version);
  street.answer = () => acknowledged;
  await street.enter("RUNNING");
  await street.pass(hour);
  assert.deepEqual(told(street), ["1 RUNNING"]);
  assert.equal(new Set(street.heard.map(({ id }) => id)).size, 2);
});
