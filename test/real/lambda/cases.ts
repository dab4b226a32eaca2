/** An environment behaves as Lambda's: answers, errors, timeouts, freezing, kills; schedules and URLs. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as checked, setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { testCase } from "../../support/test-case.ts";
import type { Fate } from "./fates.ts";
import { doneOf } from "./partial.ts";
import { type Case, must, withToy } from "./scene.ts";
import { startSchedule } from "./schedule.ts";
import { openUrl } from "./url.ts";

const said = z.object({ said: z.string().optional(), ticks: z.number(), leftMs: z.number(), pid: z.number() });
const understood = (body: string): z.infer<typeof said> => said.parse(JSON.parse(body));

/** answer of a function about the messages a and b → the deleted messages. */
const answers: readonly (readonly [body: string, done: string])[] = [
  ['{"batchItemFailures":[]}', "ab"],
  ['{"batchItemFailures":null}', "ab"],
  ["{}", "ab"],
  ["null", "ab"],
  ['{"batchItemFailures":[{"itemIdentifier":"a"}]}', "b"],
  ['{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"b"}]}', ""],
  ['{"batchItemFailures":[{"itemIdentifier":"c"}]}', ""],
  ['{"batchItemFailures":[{"itemIdentifier":""}]}', ""],
  ['{"batchItemFailures":[{"itemIdentifier":null}]}', ""],
  ['{"batchItemFailures":[{"id":"a"}]}', ""],
  ['{"batchItemFailures":"a"}', ""],
  ['"done"', ""],
  ["done", ""],
];

const partial: Case = testCase("answers about a batch mean what Lambda's documentation says", async () => {
  for (const [body, done] of answers) {
    const got = doneOf(body, ["a", "b"]).join("");
    must(got === done, `${body}: ${got || "nothing"} is deleted, expected ${done || "nothing"}`);
  }
  return [`${answers.length} answers`];
});

const life: Case = testCase("an environment is started once, answers, fails, and goes on", (scene) =>
  withToy(scene, {}, async ({ lambda, ledger }) => {
    const one = understood((await lambda.invoke({ say: "one" })).body);
    const wrong = await lambda.invoke({ fail: "as told" });
    const two = understood((await lambda.invoke({ say: "two" })).body);
    must(wrong.ended === "failed" && wrong.body.includes("as told"), `an error came back as ${wrong.body}`);
    must(one.pid === two.pid, "a second environment was started");
    must(two.leftMs > 2_000 && two.leftMs <= 3_000, `the deadline is ${two.leftMs} ms away`);
    const [cold, ...warm] = ledger.entries;
    must(cold?.initMs !== undefined && warm.every((entry) => entry.initMs === undefined), "starts are not told apart");
    return [`start ${cold?.initMs?.toFixed(0)} ms, warm ${warm.at(-1)?.durationMs.toFixed(1)} ms`];
  }),
);

const frozen: Case = testCase("between two invocations nothing of it moves", (scene) =>
  withToy(scene, {}, async ({ lambda }) => {
    const before = understood((await lambda.invoke({ lastMs: 200 })).body);
    await sleep(1_000);
    const after = understood((await lambda.invoke({})).body);
    must(before.ticks > 5, `${before.ticks} ticks while it ran`);
    must(after.ticks - before.ticks < 10, `${after.ticks - before.ticks} ticks in a second of rest`);
    return [`${before.ticks} ticks in 0.2 s of work, ${after.ticks - before.ticks} in a second of rest`];
  }),
);

const late: Case = testCase("who takes too long is ended, and the next one gets a fresh environment", (scene) =>
  withToy(scene, { timeoutMs: 300 }, async ({ lambda, ledger }) => {
    const outcome = await lambda.invoke({ lastMs: 5_000 });
    must(outcome.ended === "timed out", `it ended ${outcome.ended}`);
    must((await lambda.invoke({ say: "x" })).ended === "answered", "the next one was not served");
    must(ledger.entries.filter((entry) => entry.initMs !== undefined).length === 2, "it was not started anew");
    return [`ended after ${ledger.entries[0]?.durationMs.toFixed(0)} ms`];
  }),
);

const broken: Case = testCase("a bundle that cannot be loaded is an error, every time", (scene) =>
  withToy(scene, { environment: { TOY_INIT: "fails" } }, async ({ lambda }) => {
    const outcomes = [await lambda.invoke({}), await lambda.invoke({})];
    must(
      outcomes.every(({ ended, body }) => ended === "failed" && body.includes("as told at import")),
      `came back as ${outcomes.map(({ body }) => body)}`,
    );
    return [];
  }),
);

const fates: readonly (readonly [fate: Fate, ended: string])[] = [
  [{ do: "kill", when: "before" }, "died"],
  [{ do: "kill", when: "middle", afterMs: 50 }, "died"],
  [{ do: "kill", when: "after" }, "died"],
  [{ do: "kill", when: "idle" }, "answered"],
  [{ do: "stall", afterMs: 50, forMs: 500 }, "answered"],
];

const killed: Case = testCase(
  "killed before, in the middle, after, later; stopped in the middle and going on",
  async (scene) => {
    const lines: string[] = [];
    for (const [fate, ended] of fates) {
      let asked = 0;
      await withToy(scene, { fates: () => (asked++ === 0 ? fate : { do: "live" }) }, async ({ lambda, ledger }) => {
        const outcome = await lambda.invoke({ lastMs: 150 });
        must(outcome.ended === ended, `${JSON.stringify(fate)}: ${outcome.ended}, expected ${ended}`);
        must((await lambda.invoke({})).ended === "answered", `${JSON.stringify(fate)}: the next one was not served`);
        must(ledger.kills.length === (fate.do === "kill" ? 1 : 0), `${ledger.kills.length} kills are in the books`);
        lines.push(`${"when" in fate ? fate.when : fate.do}: ${ledger.entries[0]?.durationMs.toFixed(0)} ms`);
      });
    }
    return [lines.join(", ")];
  },
);

/** Blocks this process for `ms`. */
const deafFor = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

/** The environment is stopped while its answer is under way: the harness must resume it when it reads the answer. */
const answering: Case = testCase("stopped just as it answers, it goes on with the next one", (scene) => {
  let asked = 0;
  const fates = (): Fate => (asked++ === 1 ? { do: "stall", afterMs: 60, forMs: 20 } : { do: "live" });
  return withToy(scene, { fates }, async ({ lambda, ledger }) => {
    await lambda.invoke({});
    const answered = lambda.invoke({ lastMs: 30 });
    await sleep(15);
    // After this the timers run first, and then the sockets are read.
    await checked();
    deafFor(200);
    const next = answered.then(() => lambda.invoke({})).then(({ ended }) => ended);
    const ended = await Promise.race([next, sleep(5_000, "never")]);
    must(ended === "answered" && ledger.entries.length === 3, `the next one ended ${ended}`);
    must(ledger.stalls.length === 1, "it was not stopped");
    return [];
  });
});

const crowd: Case = testCase("one invocation per environment, and no more environments than allowed", (scene) =>
  withToy(scene, { concurrency: 2 }, async ({ lambda, ledger }) => {
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => lambda.invoke({ lastMs: 100 })));
    const pids = new Set(outcomes.map(({ body }) => understood(body).pid));
    must(pids.size === 2, `${pids.size} environments`);
    return [`6 invocations, ${ledger.entries.filter((entry) => entry.initMs !== undefined).length} starts`];
  }),
);

const scheduled: Case = testCase("a schedule fires at its rate, and a failed run is tried again", (scene) => {
  let asked = 0;
  const fates = (): Fate => (asked++ === 0 ? { do: "kill", when: "before" } : { do: "live" });
  return withToy(scene, { fates, concurrency: 3 }, async ({ lambda, dir }) => {
    const schedule = startSchedule({ lambda, everyMs: 300, retries: 2, retryMs: 100 });
    await sleep(1_400);
    const fired = schedule.fired();
    await schedule.stop();
    const ran = (await readFile(join(dir, "fired"), "utf8")).trim().split("\n").length;
    must(fired >= 3 && ran === fired, `${fired} fired, ${ran} ran`);
    return [`${fired} fired, ${ran} ran, one of them at its second try`];
  });
});

const asked: Case = testCase("an HTTP request becomes an event, and an answer a response", (scene) =>
  withToy(scene, {}, async ({ lambda }) => {
    const url = await openUrl(lambda);
    try {
      const echo = await fetch(`${url.url}/echo?a=b`, { method: "POST", body: "å body" });
      must(echo.status === 201 && echo.headers.get("x-toy") === "1", `status ${echo.status}`);
      must((await echo.text()) === "å body", "the body was not kept");
      const bare = await fetch(`${url.url}/bare`);
      must(bare.status === 200 && (await bare.text()) === '{"bare":true}', "a bare answer is not its own body");
      return [];
    } finally {
      url.close();
    }
  }),
);

export const cases: readonly Case[] = [partial, life, frozen, late, broken, killed, answering, crowd, scheduled, asked];
