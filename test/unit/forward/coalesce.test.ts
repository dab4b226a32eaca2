/** Bursts: the first change is sent at once, the last is never lost, and those in between cost little. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Sending } from "../../../shared/forward/keys.ts";
import { type Coalescer, openCoalescer, usualWindows } from "../../../shared/forward/sender.ts";

const sending = (name: string, id: string): Sending => ({
  message: { cluster: "c", kind: "App", namespace: "ns", name, reason: id },
  dedupeId: id,
});

const reasons = (sendings: readonly Sending[]): readonly string[] => sendings.map(({ message }) => message.reason);

/** Follows which events of a key were told, and that none is told late. */
const openTold = (coalescer: Coalescer) => {
  const untold = new Map<string, number>();
  const tell = (at: number): void => {
    for (const due of untold.values()) assert.ok(at <= due, `sent ${at - due} ms late`);
    untold.clear();
  };
  return {
    untold: () => untold.size,
    until: (end: number): void => {
      for (let next = coalescer.next(); next !== undefined && next <= end; next = coalescer.next())
        if (coalescer.due(next).length > 0) tell(next);
    },
    offer: (one: Sending, now: number): void => {
      untold.set(one.dedupeId, now + (one.patience === "long" ? 10_000 : 2_000));
      const sent = coalescer.offer(one, now) !== undefined;
      // An urgent message leaves those that wait.
      if (sent && coalescer.waits()) untold.delete(one.dedupeId);
      else if (sent) tell(now);
    },
  };
};

describe("coalescing", () => {
  it("sends the first event of every key at once", () => {
    const coalescer = openCoalescer();
    assert.deepEqual(coalescer.offer(sending("a", "1"), 0), sending("a", "1"));
    assert.deepEqual(coalescer.offer(sending("b", "2"), 0), sending("b", "2"));
    assert.equal(coalescer.next(), 200);
    assert.deepEqual(coalescer.due(200), []);
    assert.equal(coalescer.next(), undefined);
    assert.deepEqual(coalescer.offer(sending("a", "3"), 201), sending("a", "3"));
  });

  it("sends the first event of a quiet key at once, even if the key's last window was not closed", () => {
    const coalescer = openCoalescer();
    assert.notEqual(coalescer.offer(sending("a", "1"), 0), undefined);
    assert.equal(coalescer.offer(sending("a", "2"), 199), undefined);
    assert.equal(coalescer.due(200).length, 1);
    assert.deepEqual(coalescer.offer(sending("a", "3"), 400), sending("a", "3"));
    assert.equal(coalescer.offer(sending("a", "4"), 401), undefined);
  });

  it("makes one message of all events in the window, with the latest reason and an id of its own", () => {
    const coalescer = openCoalescer();
    coalescer.offer(sending("a", "1"), 0);
    assert.equal(coalescer.offer(sending("a", "2"), 10), undefined);
    assert.equal(coalescer.offer(sending("a", "3"), 20), undefined);
    assert.deepEqual(coalescer.due(199), []);
    const [only, ...others] = coalescer.due(200);
    assert.deepEqual(others, []);
    assert.equal(only?.message.reason, "3");
    assert.equal(["1", "2", "3"].includes(only?.dedupeId ?? ""), false);
  });

  it("sends urgent events at once, up to four in a window", () => {
    const coalescer = openCoalescer();
    const urgent = (id: string): Sending => ({ ...sending("a", id), urgent: true });
    coalescer.offer(sending("a", "0"), 0);
    assert.equal(coalescer.offer(sending("a", "1"), 10), undefined);
    const sent = ["2", "3", "4", "5", "6"].map((id) => coalescer.offer(urgent(id), 20) !== undefined);
    assert.deepEqual(sent, [true, true, true, true, false]);
    assert.deepEqual(reasons(coalescer.due(200)), ["6"]);
    assert.deepEqual(coalescer.offer(urgent("7"), 201), urgent("7"));
  });

  it("delays an urgent event by half a second at most, however long the window is", () => {
    const coalescer = openCoalescer();
    const longest = 10_000;
    for (let now = 0; now < longest; now += 10) {
      coalescer.offer(sending("a", String(now)), now);
      coalescer.due(now);
    }
    const urgent = ["1", "2", "3", "4", "5"].map((id): Sending => ({ ...sending("a", id), urgent: true }));
    const left = (coalescer.next() ?? 0) - longest;
    for (const one of urgent) coalescer.offer(one, longest);
    assert.ok(left > 500, `the window ends in ${left} ms`);
    assert.equal(coalescer.next(), longest + 500);
  });

  it("keeps the id of a single event, so that the queue drops another forwarder's copy", () => {
    const coalescer = openCoalescer();
    coalescer.offer(sending("a", "1"), 0);
    coalescer.offer(sending("a", "2"), 10);
    coalescer.offer(sending("a", "2"), 11);
    assert.deepEqual(coalescer.due(200), [sending("a", "2")]);
  });

  it("grows the window to two seconds under many events, and shrinks it again", () => {
    const coalescer = openCoalescer();
    const ends: number[] = [];
    for (let now = 0; now < 20_000; now += 10) {
      if (now < 10_000) coalescer.offer(sending("a", String(now)), now);
      if (coalescer.due(now).length > 0) ends.push(now);
    }
    const lengths = ends.map((end, at) => end - (ends[at - 1] ?? 0));
    assert.deepEqual(lengths, [200, 400, 800, 1_600, 2_000, 2_000, 2_000, 2_000]);
    assert.equal(coalescer.next(), undefined);
    coalescer.offer(sending("a", "x"), 20_000);
    assert.equal(coalescer.next(), 20_200);
  });

  it("keeps a message that could not be sent for the given delay, and merges later events into it", () => {
    const coalescer = openCoalescer();
    coalescer.giveBack(sending("a", "1"), 0, 1_000);
    assert.deepEqual(coalescer.due(999), []);
    coalescer.offer(sending("a", "2"), 500);
    coalescer.giveBack(sending("a", "1"), 600, 1_000);
    assert.deepEqual(coalescer.due(1_500), []);
    assert.deepEqual(reasons(coalescer.due(1_600)), ["2"]);
    coalescer.giveBack(sending("b", "3"), 1_600, 1_000);
    assert.deepEqual(reasons(coalescer.flush()), ["3"]);
    assert.equal(coalescer.next(), undefined);
  });

  describe("of patient events", () => {
    const patientMs = 10_000;
    const opened = () => openCoalescer({ ...usualWindows, patientMs });
    const long = (id: string): Sending => ({ ...sending("a", id), patience: "long" });
    const brief = (id: string): Sending => ({ ...sending("a", id), patience: "brief" });

    it("sends one message of all, when the first of them has waited for its time", () => {
      const coalescer = opened();
      for (const id of ["1", "2", "3", "4"]) assert.equal(coalescer.offer(long(id), 0), undefined);
      assert.equal(coalescer.waits(), true);
      for (const id of ["5", "6"]) assert.equal(coalescer.offer(brief(id), 6_000), undefined);
      assert.equal(coalescer.next(), 8_000);
      assert.deepEqual(coalescer.due(7_999), []);
      assert.deepEqual(reasons(coalescer.due(8_000)), ["6"]);
      assert.equal(coalescer.waits(), false);
    });

    it("waits a moment for what a step may wait for", () => {
      const coalescer = opened();
      coalescer.offer({ ...sending("a", "1"), patience: "moment" }, 0);
      assert.equal(coalescer.next(), 200);
    });

    it("waits no longer for later ones", () => {
      const coalescer = opened();
      coalescer.offer(long("1"), 0);
      coalescer.offer(long("2"), 9_000);
      assert.deepEqual(reasons(coalescer.due(10_000)), ["2"]);
    });

    it("sends them at once with another event of their key, under an id of its own, and then as after any message", () => {
      const coalescer = opened();
      coalescer.offer(long("1"), 0);
      const sent = coalescer.offer(sending("a", "2"), 3_000);
      assert.equal(sent?.message.reason, "2");
      assert.equal(["1", "2"].includes(sent?.dedupeId ?? ""), false);
      assert.equal(coalescer.waits(), false);
      assert.equal(coalescer.offer(sending("a", "3"), 3_100), undefined);
      assert.deepEqual(reasons(coalescer.due(3_200)), ["3"]);
    });

    it("lets one that comes right after a message wait for its own time, and not for the window's", () => {
      const coalescer = opened();
      coalescer.offer(sending("a", "1"), 0);
      coalescer.offer(brief("2"), 50);
      assert.equal(coalescer.next(), 2_050);
      assert.deepEqual(reasons(coalescer.due(2_050)), ["2"]);
    });

    it("lets a patient one wait that is urgent elsewhere, and sends other urgent ones at once", () => {
      const coalescer = opened();
      assert.equal(coalescer.offer({ ...brief("1"), urgent: true }, 0), undefined);
      assert.equal(coalescer.offer({ ...sending("a", "2"), urgent: true }, 10)?.message.reason, "2");
      assert.equal(coalescer.waits(), false);
    });

    it("gives back a message that could not be sent before their time", () => {
      const coalescer = opened();
      coalescer.offer(long("1"), 0);
      coalescer.giveBack(sending("a", "2"), 0, 500);
      assert.deepEqual(reasons(coalescer.due(500)), ["1"]);
    });

    it("treats them as all others where the deployment has no patience", () => {
      const coalescer = openCoalescer();
      assert.deepEqual(coalescer.offer(long("1"), 0), long("1"));
      assert.equal(coalescer.offer(brief("2"), 10), undefined);
      assert.equal(coalescer.next(), 200);
    });
  });

  it("loses no key, whatever the patience: after a key's last event, for any events at any times, a message is sent", () => {
    const kind = fc.constantFrom<Partial<Sending>>(
      {},
      { urgent: true },
      { patience: "long" },
      { patience: "brief" },
      { patience: "moment" },
    );
    const event = fc.record({ kind, after: fc.integer({ min: 0, max: 3_000 }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const told = openTold(openCoalescer({ ...usualWindows, patientMs: 10_000 }));
        let now = 0;
        for (const [at, { kind, after }] of events.entries()) {
          now += after;
          told.until(now);
          told.offer({ ...sending("a", String(at)), ...kind }, now);
        }
        told.until(Number.MAX_SAFE_INTEGER);
        assert.equal(told.untold(), 0);
      }),
    );
  });

  it("loses no key: after a key's last event, for any events at any times, a message is sent", () => {
    const event = fc.record({ key: fc.constantFrom("a", "b", "c"), after: fc.integer({ min: 0, max: 700 }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const coalescer = openCoalescer();
        const lastEvent = new Map<string, number>();
        const lastSent = new Map<string, number>();
        const sent = (sendings: readonly Sending[], now: number): void => {
          for (const { message } of sendings) lastSent.set(message.name, now);
        };
        let now = 0;
        for (const [id, { key, after }] of events.entries()) {
          now += after;
          sent(coalescer.due(now), now);
          lastEvent.set(key, now);
          const first = coalescer.offer(sending(key, String(id)), now);
          sent(first === undefined ? [] : [first], now);
        }
        for (let next = coalescer.next(); next !== undefined; next = coalescer.next()) sent(coalescer.due(next), next);
        for (const [key, time] of lastEvent) {
          const went = lastSent.get(key) ?? -1;
          assert.ok(went >= time && went <= time + 2_000);
        }
      }),
    );
  });
});
