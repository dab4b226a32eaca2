/** The ends of logs: kept before their pods are deleted, bounded, and deleted with the record. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { keptLogsIn, logsAged, logsKey } from "../../../../shared/core/kept-log.ts";
import type { Effect } from "../../../../shared/core/plan.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { eight, type Fixture, failing, message, openFixture, part, parts, refOf, type ToyPlan } from "../fakes.ts";

const hour = 3_600_000;

const keep = (attempt: number, more: { readonly outlives?: true } = {}): Effect => ({
  do: "keepLog",
  ref: refOf(parts, "arm"),
  uid: `arm-${attempt}`,
  log: { container: "main", attempt, keepMs: hour, ...more },
});

const removal = (attempt: number): Effect => ({ do: "delete", ref: refOf(parts, "arm"), uid: `arm-${attempt}` });

const ending = (attempt: number, more: { readonly outlives?: true } = {}): ToyPlan => ({
  memory: { count: attempt },
  stages: [[keep(attempt, more)], [removal(attempt)]],
});

const withPod = (attempt: number, fixture = openFixture()): Fixture => {
  const { metadata, ...rest } = part("arm", "toy-1", String(attempt));
  fixture.put({ ...rest, metadata: { ...metadata, uid: `arm-${attempt}` } });
  fixture.decide = () => ending(attempt);
  return fixture;
};

const recordIn = ({ checkpoints }: Fixture) => JSON.parse(checkpoints.text(logsKey(message)) ?? "null");

const logsIn = (fixture: Fixture): readonly (readonly [attempt: number, text: string])[] =>
  keptLogsIn(recordIn(fixture)?.memory).map(({ attempt, text }) => [attempt, text]);

const events = ({ objects }: Fixture): readonly string[] =>
  [...objects].flatMap(([at, object]) =>
    at.startsWith("events ") ? [`${object["reason"]}: ${object["message"]}`] : [],
  );

const isThere = ({ objects }: Fixture): boolean => objects.has("parts arm");

describe("the log of a pod that is deleted", () => {
  test("is stored before the deletion, in a record of its own, and the record of the object says so", async () => {
    const fixture = withPod(1);
    let before: unknown;
    fixture.before = (call) => {
      if (call.startsWith("remove")) before = logsIn(fixture);
    };
    await step(fixture.world, message);
    assert.deepEqual(before, [[1, "the end"]]);
    assert.deepEqual([isThere(fixture), fixture.record()?.logs], [false, true]);
    const { uid, rests, pruneAt } = recordIn(fixture);
    assert.deepEqual([uid, rests, pruneAt], ["toy-1", undefined, eight + hour]);
  });

  test("is kept once, and its pod deleted, whichever call the step dies at", async () => {
    const whole = withPod(1);
    await step(whole.world, message);
    for (let dies = 0; dies < whole.calls.length; dies += 1)
      for (const when of ["before", "after"] as const) {
        const fixture = withPod(1);
        let left = dies + 1;
        fixture[when] = () => {
          left -= 1;
          if (left === 0) throw new Error("died");
        };
        await step(fixture.world, message).catch(() => undefined);
        fixture[when] = () => {};
        for (let again = 0; again < 2; again += 1) await step(fixture.world, message);
        assert.deepEqual(
          [logsIn(fixture), isThere(fixture)],
          [[[1, "the end"]], false],
          `${when} ${whole.calls[dies]}`,
        );
      }
  });

  test("is not read again by the step that repeats the deletion", async () => {
    const fixture = withPod(1);
    fixture.before = (call) => {
      if (call.startsWith("remove")) throw failing(500, "InternalError");
    };
    await step(fixture.world, message);
    fixture.before = () => {};
    await step(fixture.world, message);
    assert.equal(fixture.calls.filter((call) => call.startsWith("log of")).length, 1);
    assert.equal(isThere(fixture), false);
  });

  test("is one of three: a fourth takes the place of the oldest", async () => {
    const fixture = openFixture();
    for (const attempt of [1, 2, 3, 4]) await step(withPod(attempt, fixture).world, message);
    assert.deepEqual(
      logsIn(fixture).map(([attempt]) => attempt),
      [2, 3, 4],
    );
  });

  test("is one of those whose retention is not over", async () => {
    const fixture = withPod(1);
    await step(fixture.world, message);
    fixture.time.now += hour;
    await step(withPod(2, fixture).world, message);
    assert.deepEqual(logsIn(fixture), [[2, "the end"]]);
  });

  test("that cannot be read is read twice, reported, and holds up no deletion", async () => {
    const fixture = withPod(1);
    fixture.logs = () => ({ heard: false, why: "timeout", message: "no answer in time" });
    await step(fixture.world, message);
    assert.equal(fixture.calls.filter((call) => call.startsWith("log of")).length, 2);
    assert.deepEqual([isThere(fixture), recordIn(fixture)], [false, null]);
    assert.deepEqual(events(fixture), ["DriverLogNotKept: the log of pod arm was not kept: no answer in time"]);
  });

  test("that cannot be read at once is kept by the second try", async () => {
    const fixture = withPod(1);
    let tries = 0;
    fixture.logs = () => {
      tries += 1;
      return tries === 1 ? { heard: false, why: "unreachable", message: "HTTP 500" } : { heard: true, value: "late" };
    };
    await step(fixture.world, message);
    assert.deepEqual([logsIn(fixture), events(fixture)], [[[1, "late"]], []]);
  });

  test("that the server once says does not exist is kept by the second try", async () => {
    const fixture = withPod(1);
    let tries = 0;
    fixture.logs = () => {
      tries += 1;
      return tries === 1 ? { heard: false, why: "notFound", message: "HTTP 404" } : { heard: true, value: "there" };
    };
    await step(fixture.world, message);
    assert.deepEqual([logsIn(fixture), events(fixture)], [[[1, "there"]], []]);
  });

  test("that may not be read is reported with the feature to grant, after one try", async () => {
    const fixture = withPod(1);
    fixture.logs = () => ({
      heard: false,
      why: "forbidden",
      message: "rekindle manifests --features kept-logs grants this",
    });
    await step(fixture.world, message);
    assert.equal(fixture.calls.filter((call) => call.startsWith("log of")).length, 1);
    assert.match(events(fixture)[0] ?? "", /--features kept-logs grants this/);
  });

  test("does not exist where the container never started: nothing is reported", async () => {
    const fixture = withPod(1);
    fixture.logs = () => ({ heard: false, why: "notFound", message: "HTTP 400" });
    await step(fixture.world, message);
    assert.equal(fixture.calls.filter((call) => call.startsWith("log of")).length, 2);
    assert.deepEqual([isThere(fixture), recordIn(fixture), events(fixture)], [false, null, []]);
  });

  test("is not taken from another pod that has its name by now", async () => {
    const fixture = withPod(1);
    fixture.logs = () => {
      const { metadata, ...rest } = part("arm");
      fixture.put({ ...rest, metadata: { ...metadata, uid: "another" } });
      return { heard: true, value: "of another" };
    };
    await step(fixture.world, message);
    assert.equal(recordIn(fixture), null);
  });

  test("is not stored where its store refuses it: the deletion goes on after a few tries", async () => {
    const fixture = withPod(1);
    const { checkpoints } = fixture.world;
    const world = {
      ...fixture.world,
      checkpoints: {
        ...checkpoints,
        save: (...args: Parameters<typeof checkpoints.save>) => {
          if (args[0].kind === logsKey(message).kind) throw failing(413, "RecordTooLarge");
          return checkpoints.save(...args);
        },
      },
    };
    await step(world, message);
    assert.equal(isThere(fixture), true);
    await step(world, { ...message, tries: 2 });
    assert.equal(isThere(fixture), false);
  });
});

describe("kept logs", () => {
  const forgotten = async (fixture: Fixture): Promise<void> => {
    fixture.objects.delete("toys bear");
    fixture.decide = () => ({ memory: { count: 0 }, stages: [], next: { do: "forget" } });
    await step(fixture.world, message);
  };

  test("are deleted before the record of their object", async () => {
    const fixture = withPod(1);
    await step(fixture.world, message);
    await forgotten(fixture);
    assert.deepEqual([recordIn(fixture), fixture.record()], [null, undefined]);
    const drops = fixture.calls.filter((call) => call.startsWith("drop"));
    assert.equal(drops.length, 2);
  });

  test("that another step writes to meanwhile are deleted by the next try, and the record stays until then", async () => {
    const fixture = withPod(1);
    await step(fixture.world, message);
    const key = logsKey(message);
    let once = true;
    fixture.before = async (call) => {
      if (!call.startsWith("drop") || !once) return;
      once = false;
      const { record, version } = (await fixture.checkpoints.load(key)) ?? { record: {}, version: undefined };
      await fixture.checkpoints.save(key, Object(record), version);
    };
    await forgotten(fixture);
    assert.deepEqual([recordIn(fixture) === null, fixture.record() === undefined], [false, false]);
    await step(fixture.world, message);
    assert.deepEqual([recordIn(fixture), fixture.record()], [null, undefined]);
  });

  test("cost an object without any no request at its end", async () => {
    const fixture = openFixture();
    await step(fixture.world, message);
    fixture.calls.length = 0;
    await forgotten(fixture);
    assert.equal(fixture.calls.filter((call) => call === "load").length, 1);
  });

  test("outlive an object whose time to live is over, until their retention is over", async () => {
    const fixture = withPod(1);
    await step(fixture.world, message);
    fixture.decide = () => ending(1, { outlives: true });
    await step(fixture.world, message);
    await forgotten(fixture);
    assert.deepEqual([logsIn(fixture), recordIn(fixture).rests], [[[1, "the end"]], true]);
    const aged = { ...message, reason: logsAged };
    assert.deepEqual(await step(fixture.world, aged), { did: "nothing", why: "no retention is over" });
    fixture.time.now += hour;
    assert.deepEqual(await step(fixture.world, aged), { did: "step", writes: 1 });
    assert.equal(recordIn(fixture), null);
  });

  test("that a death has left without object and record are deleted", async () => {
    const fixture = withPod(1);
    await step(fixture.world, message);
    const held = await fixture.checkpoints.load(message);
    await fixture.checkpoints.remove(message, held?.version ?? "");
    const aged = { ...message, reason: logsAged };
    assert.deepEqual(await step(fixture.world, aged), { did: "nothing", why: "no retention is over" });
    fixture.objects.delete("toys bear");
    assert.deepEqual(await step(fixture.world, aged), { did: "step", writes: 1 });
    assert.equal(recordIn(fixture), null);
  });

  test("of an earlier object of the name give way to those of the next", async () => {
    const fixture = withPod(1);
    await step(fixture.world, message);
    const key = logsKey(message);
    const { record, version } = (await fixture.checkpoints.load(key)) ?? { record: {}, version: undefined };
    await fixture.checkpoints.save(key, { ...Object(record), uid: "toy-0" }, version);
    await step(withPod(2, fixture).world, message);
    assert.deepEqual([logsIn(fixture), recordIn(fixture).uid], [[[2, "the end"]], "toy-1"]);
  });
});
