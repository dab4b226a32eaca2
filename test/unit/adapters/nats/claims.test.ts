/** Claims of groups: a lock for each, receipts that end with it, extension, delays, and messages that are put aside. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { acknowledge, claimAll, extendAll, giveBack, openClaims } from "../../../../shared/adapters/nats/claims.ts";
import { type Lock, type Locks, openWaiting } from "../../../../shared/adapters/nats/locks.ts";
import { namesOf } from "../../../../shared/adapters/nats/streams.ts";
import { recordedNats } from "../../../support/nats.ts";

const visibilityMs = 15_000;
const maxReceives = 3;

type Answers = Partial<Locks> & { readonly longestMs?: number };

/** Opens claims whose locks are always free; `calls` are the requests to locks and server, in their order. */
const open = ({ longestMs = 90_000, ...answers }: Answers = {}) => {
  const calls: string[] = [];
  const nats = recordedNats(({ subject, payload }) => void calls.push(`${String(payload).slice(0, 8)} ${subject}`));
  const names = namesOf("q");
  let sequence = 100;
  const locked = (group: string, ms: number): Lock => {
    sequence += 1;
    return { group, sequence, until: performance.now() + ms, epoch: 0 };
  };
  const noted =
    <Given extends readonly unknown[], Got>(what: string, given: ((...args: Given) => Promise<Got>) | undefined) =>
    (usual: (...args: Given) => Promise<Got>) =>
    async (...args: Given): Promise<Got> => {
      calls.push(what);
      return await (given ?? usual)(...args);
    };
  const locks: Locks = {
    take: noted("take", answers.take)(async (group, ms) => locked(group, ms)),
    move: noted("move", answers.move)(async ({ group }, ms) => locked(group, ms)),
    release: noted("release", answers.release)(async () => true),
    holds: noted("holds", answers.holds)(async () => true),
  };
  const waiting = openWaiting(nats, visibilityMs);
  const reports: string[] = [];
  const report = (_: string, message: string): void => void reports.push(message);
  const claims = openClaims({ nats, names, locks, waiting, visibilityMs, longestMs, maxReceives, report });
  const arrive = (group: string, at: number, received = 1): void =>
    waiting.add({
      subject: names.key(group),
      reply: `$JS.ACK.q.steps.${received}.${at}.${at}.1700000000000000000.0`,
      body: `${group}${at}`,
      status: undefined,
      description: "",
    });
  /** Returns the calls since the last time. */
  const since = (): readonly string[] => calls.splice(0);
  return { claims, arrive, since, nats, reports };
};

const bodies = (received: Awaited<ReturnType<typeof claimAll>>): readonly string[] => received.map(({ body }) => body);

const acknowledged = (calls: readonly string[]): number => calls.filter((call) => call.startsWith("+ACK")).length;

describe("claims of groups:", () => {
  test("a received message is not acknowledged before its receiver acknowledges it", async () => {
    const { claims, arrive, since } = open();
    arrive("a", 1);
    const taken = await claimAll(claims, 10);
    assert.deepEqual(bodies(taken), ["a1"]);
    assert.equal(acknowledged(since()), 0);
    await acknowledge(claims, taken);
    assert.deepEqual(since(), ["release", "+ACK $JS.ACK.q.steps.1.1.1.1700000000000000000.0"]);
  });

  test("a group whose lock another worker has is not received", async () => {
    const { claims, arrive } = open({ take: async () => undefined });
    arrive("a", 1);
    assert.deepEqual(await claimAll(claims, 10), []);
  });

  test("a message that arrives during its group's delivery waits for the acknowledgement", async () => {
    const { claims, arrive } = open();
    arrive("a", 1);
    const first = await claimAll(claims, 10);
    arrive("a", 2);
    assert.deepEqual(await claimAll(claims, 10), []);
    await acknowledge(claims, first);
    assert.deepEqual(bodies(await claimAll(claims, 10)), ["a2"]);
  });

  test("a worker whose lock has expired acknowledges nothing", async () => {
    const { claims, arrive, since } = open({ release: async () => false });
    arrive("a", 1);
    await acknowledge(claims, await claimAll(claims, 10));
    assert.equal(acknowledged(since()), 0);
  });

  test("a receipt of an earlier claim acknowledges nothing of the present one", async () => {
    const { claims, arrive, since } = open();
    arrive("a", 1);
    const first = await claimAll(claims, 10);
    await giveBack(claims, first, 0);
    arrive("a", 1, 2);
    const second = await claimAll(claims, 10);
    since();
    await acknowledge(claims, first);
    assert.deepEqual(since(), []);
    await acknowledge(claims, second);
    assert.equal(acknowledged(since()), 1);
  });

  test("the number of deliveries is the server's", async () => {
    const { claims, arrive } = open();
    arrive("a", 1, 3);
    assert.deepEqual(
      (await claimAll(claims, 10)).map(({ received }) => received),
      [3],
    );
  });

  test("a message that was delivered too often becomes a dead letter, and its group continues", async () => {
    const { claims, arrive, since, nats, reports } = open();
    arrive("a", 1, maxReceives + 1);
    arrive("a", 2);
    assert.deepEqual(bodies(await claimAll(claims, 10)), ["a2"]);
    assert.deepEqual(
      since().filter((call) => /^a1|TERM/.test(call)),
      ["a1 q.dead.a", `+TERM $JS.ACK.q.steps.${maxReceives + 1}.1.1.1700000000000000000.0`],
    );
    const burial = nats.asked.find(({ subject }) => subject === "q.dead.a");
    assert.deepEqual(burial?.headers, { "Nats-Msg-Id": "q:1" });
    assert.equal(reports.length, 1);
  });

  test("locks and deliveries of steps in progress are extended", async () => {
    const { claims, arrive, since, nats } = open();
    arrive("a", 1);
    const taken = await claimAll(claims, 10);
    const before = claims.byGroup.get("a")?.lock.sequence;
    since();
    await extendAll(claims);
    assert.deepEqual(since(), ["move"]);
    assert.equal(nats.asked.at(-1)?.payload, "+WPI");
    assert.notEqual(claims.byGroup.get("a")?.lock.sequence, before);
    await acknowledge(claims, taken);
    assert.equal(acknowledged(since()), 1);
    await extendAll(claims);
    assert.deepEqual(since(), []);
  });

  test("a lock that another worker took is not extended, and its deliveries are not either", async () => {
    const { claims, arrive, nats } = open({ move: async () => undefined });
    arrive("a", 1);
    await claimAll(claims, 10);
    const before = nats.asked.length;
    await extendAll(claims);
    assert.equal(nats.asked.length, before);
  });

  test("a lock is not extended beyond the longest time of a step", async () => {
    const { claims, arrive, since } = open({ longestMs: visibilityMs });
    arrive("a", 1);
    await claimAll(claims, 10);
    since();
    await extendAll(claims);
    assert.deepEqual(since(), []);
  });

  test("an acknowledgement waits for an extension in progress, and uses its lock", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const released: number[] = [];
    const { claims, arrive } = open({
      move: async ({ group, epoch }, ms) => {
        await promise;
        return { group, sequence: 777, until: performance.now() + ms, epoch };
      },
      release: async ({ sequence }) => {
        released.push(sequence);
        return true;
      },
    });
    arrive("a", 1);
    const taken = await claimAll(claims, 10);
    const extending = extendAll(claims);
    await new Promise((done) => setImmediate(done));
    const acknowledging = acknowledge(claims, taken);
    resolve();
    await Promise.all([extending, acknowledging]);
    assert.deepEqual(released, [777]);
  });

  test("a message given back with a delay keeps its lock for the delay before the server has it again", async () => {
    const { claims, arrive, since } = open();
    arrive("a", 1);
    const taken = await claimAll(claims, 10);
    since();
    await giveBack(claims, taken, 5_000);
    assert.deepEqual(since(), ["move", "-NAK $JS.ACK.q.steps.1.1.1.1700000000000000000.0"]);
    arrive("a", 1, 2);
    assert.deepEqual(await claimAll(claims, 10), []);
  });

  test("a message given back without a delay returns to the server before its group is unlocked", async () => {
    const { claims, arrive, since } = open();
    arrive("a", 1);
    const taken = await claimAll(claims, 10);
    since();
    await giveBack(claims, taken, 0);
    assert.deepEqual(since(), ["-NAK $JS.ACK.q.steps.1.1.1.1700000000000000000.0", "release"]);
  });
});
