/**
 * The time limit of a decision: the decision is stopped, its object waits, and after a death the decision in flight is
 * blamed.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openJournal } from "../../../shared/adapters/journal.ts";
import { openTimeLimit } from "../../../shared/adapters/time-limit.ts";
import { BudgetError } from "../../../shared/core/http.ts";
import { textOf } from "../../../shared/core/key.ts";
import type { Slices, TimeLimit } from "../../../shared/engine/ports.ts";
import { openQuarantine, slicesOf } from "../../../shared/engine/quarantine.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { message, openFixture, toy } from "./fakes.ts";

const caught = async (work: () => unknown): Promise<BudgetError> => {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof BudgetError) return cause;
    throw cause;
  }
  throw new Error("nothing was stopped");
};

/** A time limit for a busy machine: work that got no processor time is run again, at most ten times. */
const fairly =
  (limit: TimeLimit, tries = 10): TimeLimit =>
  (ms, work) => {
    try {
      return limit(ms, work);
    } catch (cause) {
      const isStarved = cause instanceof BudgetError && cause.why === "starved";
      if (isStarved && tries > 1) return fairly(limit, tries - 1)(ms, work);
      throw cause;
    }
  };

describe("a time limit", () => {
  const limit = fairly(openTimeLimit());
  const rows: readonly (readonly [why: string, work: () => unknown])[] = [
    [
      "stops a loop",
      () => {
        for (;;);
      },
    ],
    [
      "stops a loop that catches every error",
      () => {
        for (;;)
          try {
            for (;;);
          } catch {}
      },
    ],
    [
      "stops a loop in the finally block of a loop",
      () => {
        try {
          for (;;);
        } finally {
          for (;;);
        }
      },
    ],
    ["stops a regular expression that backtracks without end", () => /^(a+)+$/.test(`${"a".repeat(60)}b`)],
    [
      "stops a sort",
      () => {
        for (;;) Array.from({ length: 100_000 }, (_, at) => -at).sort((a, b) => a - b);
      },
    ],
  ];
  for (const [why, work] of rows)
    test(why, async () => {
      assert.equal((await caught(() => limit(1_000, work))).why, "stopped");
    });

  test("returns the result of the work, and throws its errors unchanged", () => {
    assert.equal(
      limit(1_000, () => limit(500, () => 7)),
      7,
    );
    assert.throws(
      () =>
        limit(1_000, () => {
          throw new RangeError("own");
        }),
      RangeError,
    );
  });
});

const stop: TimeLimit = (ms) => {
  throw new BudgetError({ message: `${ms}`, waitMs: 0, why: "stopped" });
};

/** Runs each part of a decision at once, as a slice of its own. */
const alone = { clock: () => 0, sliceMs: 0 };
const slicesBy = (limit: TimeLimit): Slices => slicesOf(limit, (begin) => begin());

/** A quarantine in which a decision takes the ms that `costs` has for its name. */
const opened = (journal?: ReturnType<typeof openJournal>) => {
  const time = { now: 1_000_000 };
  const budgets: number[] = [];
  const costs = new Map<string, number>();
  let next = "";
  const limit: TimeLimit = (ms, work) => {
    if (next !== "") budgets.push(ms);
    return (costs.get(next) ?? 0) > ms ? stop(ms, work) : work();
  };
  const quarantine = openQuarantine({ ...alone, slices: slicesBy(limit), budgetMs: 800, journal, now: () => time.now });
  /** Runs a decision of two parts, of which the first costs nothing. */
  const run = async (name: string, version = "1", namespace = "ns") => {
    const key = { ...message, namespace, name };
    next = "";
    await quarantine.run(key, version, () => "");
    next = name;
    const result = await quarantine.run(key, version, () => name);
    quarantine.finished(key);
    return result;
  };
  return { time, budgets, costs, run };
};

describe("an object whose decision was stopped", () => {
  test("waits for growing times, and no decision about it begins in the meantime", async () => {
    const { time, costs, run, budgets } = opened();
    costs.set("bomb", Number.POSITIVE_INFINITY);
    const waits: number[] = [];
    for (let at = 0; at < 8; at += 1) {
      const { waitMs } = await caught(() => run("bomb"));
      waits.push(waitMs);
      time.now += waitMs - 1;
      assert.equal((await caught(() => run("bomb"))).why, "held");
      time.now += 1;
    }
    assert.deepEqual(
      waits,
      [10, 20, 40, 80, 160, 320, 640, 900].map((s) => s * 1_000),
    );
    assert.equal(budgets.length, 8);
  });

  test("is decided again soon after it changes, and is treated as any other once it is repaired", async () => {
    const { time, costs, run } = opened();
    costs.set("bomb", Number.POSITIVE_INFINITY);
    for (let at = 0; at < 4; at += 1) time.now += (await caught(() => run("bomb"))).waitMs;
    await caught(() => run("bomb"));
    costs.clear();
    assert.equal((await caught(() => run("bomb", "2"))).why, "held");
    time.now += 10_000;
    assert.equal(await run("bomb", "2"), "bomb");
    assert.equal(await run("bomb", "2"), "bomb");
  });

  test("has a message that says how to repair it", async () => {
    const { costs, run } = opened();
    costs.set("bomb", Number.POSITIVE_INFINITY);
    assert.match((await caught(() => run("bomb"))).message, /quarantine\. Make its spec smaller/);
  });

  test("does not wait longer if the wall clock is set back", async () => {
    const { time, costs, run } = opened();
    costs.set("bomb", Number.POSITIVE_INFINITY);
    await caught(() => run("bomb"));
    costs.clear();
    time.now -= 3_600_000;
    assert.equal(await run("bomb"), "bomb");
  });
});

describe("a namespace of many objects whose decisions were stopped", () => {
  test("has a smaller time limit after each stop, while another namespace keeps the whole limit", async () => {
    const { costs, run, budgets } = opened();
    for (let at = 0; at < 7; at += 1) {
      costs.set(`bomb-${at}`, Number.POSITIVE_INFINITY);
      await caught(() => run(`bomb-${at}`));
    }
    assert.deepEqual(budgets, [800, 400, 200, 100, 50, 50, 50]);
    assert.equal(await run("good", "1", "other"), "good");
    assert.equal(budgets.at(-1), 800);
  });

  test("has its whole time limit back after ten minutes", async () => {
    const { costs, run, budgets, time } = opened();
    costs.set("bomb", Number.POSITIVE_INFINITY);
    await caught(() => run("bomb"));
    time.now += 600_000;
    await run("good");
    assert.equal(budgets.at(-1), 800);
  });
});

describe("after a process that died during a decision", () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-journal-"));

  /** Dies during a decision: the journal gets no end of it. */
  const die = async (name: string): Promise<void> => {
    const journal = { ...openJournal(folder, () => {}), end: () => {} };
    const quarantine = openQuarantine({
      ...alone,
      slices: slicesBy((_, work) => work()),
      budgetMs: 800,
      journal,
      now: () => 1_000_000,
    });
    const death = (): never => {
      throw new Error("death");
    };
    await assert.rejects(quarantine.run({ ...message, name }, "1", death), /death/);
  };

  test("once, the next process decides the object at once: the death may have had another cause", async () => {
    await die("bomb");
    assert.equal(await opened(openJournal(folder, () => {})).run("bomb"), "bomb");
  });

  test("twice, the next process makes this version of the object wait, but no other object", async () => {
    await die("bomb");
    await die("bomb");
    const { run } = opened(openJournal(folder, () => {}));
    assert.equal((await caught(() => run("bomb"))).waitMs, 10_000);
    assert.equal(await run("good"), "good");
  });

  test("three times, the next process makes the object wait longer", async () => {
    openJournal(folder, () => {}).begin({ key: textOf({ ...message, name: "bomb" }), namespace: "ns", version: "1" });
    assert.equal((await caught(() => opened(openJournal(folder, () => {})).run("bomb"))).waitMs, 20_000);
  });

  test("no object is blamed if no decision had begun, or if the journal is missing", async () => {
    const journal = openJournal(folder, () => {});
    journal.end();
    assert.equal(openJournal(folder, () => {}).died, undefined);
    rmSync(folder, { recursive: true });
    assert.deepEqual(openJournal(folder, () => {}).stops, []);
    rmSync(folder, { recursive: true });
  });
});

describe("a step of an object in quarantine", () => {
  test("records an Event with the repair at once, and comes back when the wait is over", async () => {
    const fixture = openFixture();
    fixture.put(toy());
    fixture.decide = () => {
      const end = performance.now() + 5_000;
      while (performance.now() < end);
      throw new Error("the decision came to its end");
    };
    const samples: string[] = [];
    const quarantine = openQuarantine({
      ...alone,
      slices: slicesBy(fairly(openTimeLimit())),
      budgetMs: 1_000,
      now: () => fixture.time.now,
    });
    const world = {
      ...fixture.world,
      quarantine,
      meter: (all: readonly { readonly name: string }[]) => void samples.push(...all.map(({ name }) => name)),
    };
    const ending = await step(world, message);
    assert.equal(ending.did === "troubled" ? ending.reason : ending.did, "Quarantined");
    const told = [...fixture.objects.values()].find(({ kind }) => kind === "Event");
    assert.equal(told?.["reason"], "Quarantined");
    assert.match(String(told?.["message"]), /Make its spec smaller/);
    assert.ok((fixture.sent.at(-1)?.delayMs ?? 0) >= 10_000);
    assert.ok(samples.includes("rekindle_decisions_stopped_total"));
    const calls = fixture.calls.length;
    await step(world, message);
    assert.equal(samples.filter((name) => name === "rekindle_decisions_stopped_total").length, 1);
    assert.ok(fixture.calls.length > calls);
  });

  test("decides again on the same reads if the machine was busy with other work", async () => {
    const fixture = openFixture();
    fixture.put(toy());
    let starved = 3;
    const limit: TimeLimit = (ms, work) => {
      starved -= 1;
      if (starved < 0) return work();
      throw new BudgetError({ message: `${ms}`, waitMs: 0, why: "starved" });
    };
    const quarantine = openQuarantine({
      ...alone,
      slices: slicesBy(limit),
      budgetMs: 1_000,
      now: () => fixture.time.now,
    });
    const busy = await step({ ...fixture.world, quarantine }, message);
    assert.equal(busy.did, "step");
    const idle = openFixture();
    idle.put(toy());
    await step(idle.world, message);
    assert.deepEqual(fixture.calls, idle.calls);
  });
});
