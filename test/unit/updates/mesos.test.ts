/**
 * The behaviour that Mesos' tests of its status update managers verify, each under the name of that test; the
 * table is in test/proof/mesos/README.md.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deliveryKey } from "../../../shared/core/key.ts";
import { acknowledgementOf } from "../../../shared/updates/acknowledgement.ts";
import { message, toy } from "../engine/fakes.ts";
import { acknowledged, listener, openStreet, type Street, silence } from "./street.ts";

const states = ({ heard }: Street): readonly string[] => heard.map(({ state }) => state);
const idsOf = ({ heard }: Street): readonly string[] => heard.map(({ id }) => id);
const second = 1_000;
const hour = 3_600 * second;

/** Sends an acknowledgement as a message of its own. */
const acknowledge = async (street: Street, id: string, by = listener): Promise<void> => {
  const asked = acknowledgementOf(message, id, by);
  assert.ok(asked);
  await street.queue.send(asked, `${id} ${street.fixture.time.now}`);
  await street.pass(0);
};

const ignored = ({ fixture }: Street): readonly unknown[] =>
  fixture.lines.flatMap(({ message: text, fields }) =>
    text === "an acknowledgement is ignored" ? [fields["why"]] : [],
  );

describe("one stream of updates, as in the tests of Mesos' agent", () => {
  test("CheckpointStatusUpdate: after an update and its acknowledgement the records hold one of each", async () => {
    const street = openStreet();
    await street.enter("RUNNING");
    assert.deepEqual(
      street.fixture.record()?.outbox?.entries.map(({ sequence, state }) => [sequence, state]),
      [[1, "RUNNING"]],
    );
    assert.deepEqual((await street.cursor())?.acknowledged, 1);
    assert.deepEqual(states(street), ["RUNNING"]);
  });

  test("RetryStatusUpdate: an unacknowledged update is sent again after 10 s, 20 s … 10 min", async () => {
    const street = openStreet();
    street.answer = () => silence;
    const began = street.fixture.time.now;
    await street.enter("RUNNING");
    await street.pass(2 * hour);
    const gaps = street.heard.map(({ at }, index) => (at - (street.heard[index - 1]?.at ?? began)) / second);
    assert.deepEqual(gaps.slice(0, 9), [0, 10, 20, 40, 80, 160, 320, 600, 600]);
    assert.equal(new Set(idsOf(street)).size, 1);
  });

  test("IgnoreDuplicateStatusUpdateAck: a late acknowledgement of one update does not acknowledge the next", async () => {
    const street = openStreet();
    street.answer = ({ sequence }) => (sequence === 1 ? acknowledged : silence);
    await street.enter("SUBMITTED");
    await street.enter("RUNNING");
    await acknowledge(street, idsOf(street)[0] ?? "");
    assert.deepEqual(ignored(street), ["duplicate"]);
    assert.equal((await street.cursor())?.outstanding?.sequence, 2);
    await street.pass(10 * second);
    assert.deepEqual(states(street), ["SUBMITTED", "RUNNING", "RUNNING"]);
  });

  test("IgnoreUnexpectedStatusUpdateAck: ids of no sent update and of another stream are ignored", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("SUBMITTED");
    const [stream = ""] = (idsOf(street)[0] ?? "").split("/");
    for (const id of [`${stream}/2`, `${"0".repeat(16)}/1`, `${stream}/99`]) await acknowledge(street, id);
    assert.deepEqual(ignored(street), ["unexpected", "unexpected", "unexpected"]);
    assert.deepEqual((await street.cursor())?.acknowledged, 0);
    for (const id of ["", "1", `${stream}/0`, `${stream}/-1`, `${stream}/1e3`, "../../x/1"])
      assert.equal(acknowledgementOf(message, id, listener), undefined);
  });

  test("DuplicateTerminalUpdateAfterAck: an end is one update, and another attempt's end is another", async () => {
    const street = openStreet();
    await street.enter("FAILED", { terminal: true });
    await street.enter("FAILED", { terminal: true });
    await street.enter("FAILED", { terminal: true, attempt: 2 });
    assert.deepEqual(states(street), ["FAILED", "FAILED"]);
    assert.equal(new Set(idsOf(street)).size, 2);
  });

  test("DuplicateUpdateBeforeAck: a repeated message makes one update", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("RUNNING");
    await street.queue.send(message, "a copy");
    await street.pass(0);
    assert.equal(street.fixture.record()?.outbox?.entries.length, 1);
    assert.deepEqual(states(street), ["RUNNING"]);
  });

  test("LatestTaskState: a repeated update carries the latest state", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("SUBMITTED");
    await street.enter("RUNNING");
    await street.pass(10 * second);
    assert.deepEqual(
      street.heard.map(({ state, latest }) => [state, latest]),
      [
        ["SUBMITTED", "SUBMITTED"],
        ["SUBMITTED", "RUNNING"],
      ],
    );
  });

  test("DuplicatedTerminalStatusUpdate: the object's deletion after its end is no update", async () => {
    const street = openStreet();
    await street.enter("COMPLETED", { terminal: true });
    street.fixture.objects.delete("toys bear");
    await street.resync();
    assert.deepEqual(states(street), ["COMPLETED"]);
    assert.equal(street.fixture.record(), undefined);
  });
});

describe("streams of updates, as in the tests of Mesos' operations", () => {
  test("UpdateAndAck: an acknowledged end closes the stream", async () => {
    const street = openStreet();
    await street.enter("FAILED", { terminal: true });
    await street.pass(hour);
    assert.deepEqual(states(street), ["FAILED"]);
    assert.deepEqual((await street.cursor())?.closed, true);
  });

  test("UpdateAndAckNonTerminalUpdate: an acknowledged update is sent once, and the stream stays open", async () => {
    const street = openStreet();
    await street.enter("RUNNING");
    await street.pass(hour);
    await street.resync();
    assert.deepEqual(states(street), ["RUNNING"]);
    assert.deepEqual((await street.cursor())?.closed, false);
  });

  test("ResendUnacknowledged: a listener that is away for a day gets every update in order afterwards", async () => {
    const street = openStreet();
    const back = street.fixture.time.now + 24 * hour;
    street.answer = ({ at }) => (at < back ? silence : acknowledged);
    for (const state of ["SUBMITTED", "RUNNING", "FAILING"]) await street.enter(state);
    await street.pass(25 * hour);
    const heard = street.heard.filter(({ answered }) => answered === "acknowledged").map(({ state }) => state);
    assert.deepEqual(heard, ["SUBMITTED", "RUNNING", "FAILING"]);
  });

  test("Cleanup: an hour after the object's deletion nothing is sent any more, and no record is left", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("RUNNING");
    street.fixture.objects.delete("toys bear");
    await street.resync();
    assert.equal(street.fixture.record()?.outbox?.entries.at(-1)?.state, "DELETED");
    await street.pass(hour);
    await street.resync();
    assert.deepEqual([...street.fixture.checkpoints.all().keys()], []);
    const { length } = street.heard;
    await street.pass(2 * hour);
    assert.equal(street.heard.length, length);
  });

  test("RecoverCheckpointedStream: the next process sends the unacknowledged updates", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("SUBMITTED");
    await street.enter("RUNNING");
    const next = openStreet();
    for (const [, text] of street.fixture.checkpoints.all()) await copied(next, text);
    next.fixture.time.now += hour;
    await next.resync();
    assert.deepEqual(states(next), ["SUBMITTED", "RUNNING"]);
  });

  test("RecoverNotCheckpointedStream: a delivery without a stream returns that as its reason", async () => {
    const street = openStreet();
    street.fixture.objects.delete("toys bear");
    const ending = await street.world.deliver?.({ ...deliveryKey(message), reason: "test" });
    assert.deepEqual(ending, { did: "nothing", why: "there is no stream of here/Toy/ns/bear" });
  });

  test("RecoverEmptyFile: a record without an outbox begins a stream", async () => {
    const street = openStreet({ to: "" });
    await street.enter("RUNNING");
    assert.equal(street.fixture.record()?.outbox, undefined);
    assert.equal((await street.world.deliver?.({ ...deliveryKey(message), reason: "test" }))?.did, "nothing");
    street.fixture.put(toy({ annotations: { "rekindle.dev/updates-to": "https://own.example/" } }));
    await street.resync();
    assert.deepEqual(states(street), ["RUNNING"]);
  });

  test("RecoverEmptyDirectory: an outbox without a delivery's record is delivered from its beginning", async () => {
    const street = openStreet();
    street.fixture.before = (call) => {
      if (call.startsWith("send")) throw new Error("the queue is away");
    };
    await street.enter("RUNNING");
    street.fixture.before = () => {};
    assert.deepEqual([states(street), await street.cursor()], [[], undefined]);
    await street.resync();
    assert.deepEqual(states(street), ["RUNNING"]);
  });

  test("RecoverTerminatedStream: a stream that has ended stays ended", async () => {
    const street = openStreet();
    await street.enter("COMPLETED", { terminal: true });
    const next = openStreet();
    for (const [, text] of street.fixture.checkpoints.all()) await copied(next, text);
    await next.enter("COMPLETED", { terminal: true });
    await next.pass(hour);
    assert.deepEqual(states(next), []);
  });

  for (const name of ["IgnoreDuplicateUpdate", "IgnoreDuplicateUpdateAfterRecover"])
    test(`${name}: an update that the record already has is not sent again`, async () => {
      const street = openStreet();
      await street.enter("RUNNING");
      const sender = name.endsWith("Recover") ? openStreet() : street;
      for (const [, text] of street.fixture.checkpoints.all()) await copied(sender, text);
      const before = sender.heard.length;
      await sender.enter("RUNNING");
      assert.equal(sender.heard.length, before);
    });

  for (const name of ["RejectDuplicateAck", "RejectDuplicateAckAfterRecover"])
    test(`${name}: an acknowledgement counts once`, async () => {
      const street = openStreet();
      await street.enter("RUNNING");
      const sender = name.endsWith("Recover") ? openStreet() : street;
      for (const [, text] of street.fixture.checkpoints.all()) await copied(sender, text);
      const before = await sender.cursor();
      await acknowledge(sender, idsOf(street)[0] ?? "");
      assert.deepEqual([ignored(sender), await sender.cursor()], [["duplicate"], before]);
    });

  test("StrictRecoveryCorruptedFile: an outbox that cannot be read stops its key", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("RUNNING");
    const text = street.fixture.checkpoints.text(message) ?? "";
    await copied(street, text.replace('"sequence":1', '"sequence":"one"'));
    const before = [...street.fixture.checkpoints.all()];
    await street.pass(hour);
    await street.resync();
    assert.deepEqual([...street.fixture.checkpoints.all()], before);
    assert.equal(street.heard.length, 1);
    assert.ok(street.fixture.lines.some(({ fields }) => String(fields["error"]).includes("outbox.entries.0.sequence")));
  });

  test("UpdateLatestWhenResending: the next process sends the latest state of that time", async () => {
    const street = openStreet();
    street.answer = () => silence;
    await street.enter("SUBMITTED");
    await street.enter("FAILED", { terminal: true });
    const next = openStreet();
    for (const [, text] of street.fixture.checkpoints.all()) await copied(next, text);
    next.fixture.time.now += hour;
    await next.resync();
    assert.deepEqual(
      next.heard.map(({ state, latest }) => [state, latest]),
      [
        ["SUBMITTED", "FAILED"],
        ["FAILED", "FAILED"],
      ],
    );
  });
});

/** Stores the record of an application or of its delivery, unchanged, in another sender's store. */
const copied = async ({ fixture }: Street, text: string): Promise<void> => {
  const record = JSON.parse(text);
  const key = record.acknowledged === undefined ? message : deliveryKey(message);
  const there = await fixture.checkpoints.load(key);
  await fixture.checkpoints.save(key, record, there?.version);
};
