/**
 * Objects that a host does not touch: those of other namespaces, outside its selectors, paused ones, and all in a dry
 * run.
 */
import assert from "node:assert/strict";
import { describe } from "node:test";
import * as z from "zod";
import { tellPlans } from "../../../shared/deployments/host/dry-run.ts";
import type { HostSettings } from "../../../shared/deployments/host/start.ts";
import { rekindle } from "./command.ts";
import { application, stateOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";
import { answer } from "./way.ts";

const state = (stand: Stand, name: string, namespace = "default"): string =>
  stateOf(stand.get("SparkApplication", name, namespace));

const isDone = (stand: Stand, name: string, namespace?: string) => () => state(stand, name, namespace) === "COMPLETED";

const writesAbout = (stand: Stand, part: string): readonly string[] =>
  stand.writes().filter((line) => line.includes(part));

const team = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };

/** Two namespaces, and label selectors; `theirs` is out of the host's scope in every case. */
const cases: readonly {
  readonly name: string;
  readonly settings: Partial<HostSettings>;
  readonly theirs: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> };
}[] = [
  { name: "--namespaces", settings: { namespaces: ["default"] }, theirs: { namespace: "team", labels: { team: "a" } } },
  {
    name: "--namespace-selector beside a name",
    settings: { namespaces: ["default"], namespaceSelector: "spark=enabled" },
    theirs: { namespace: "team", labels: { team: "a" } },
  },
  { name: "--selector", settings: { selector: "team=a" }, theirs: { namespace: "team", labels: { team: "b" } } },
  {
    name: "--selector by absence",
    settings: { selector: "!legacy" },
    theirs: { namespace: "default", labels: { legacy: "1" } },
  },
];

const it = itOnStand();

describe("applications out of scope", () => {
  for (const { name, settings, theirs } of cases) {
    it(`are not run, followed, resynced or ended: ${name}`, async (stand) => {
      await stand.create(team);
      await stand.host(settings);
      await stand.create(application("mine", { labels: { team: "a" } }));
      await stand.create(application("theirs", theirs));
      await stand.until("mine is done", isDone(stand, "mine"));
      await stand.pass(0.25);
      assert.equal(state(stand, "theirs", theirs.namespace), "");
      assert.deepEqual(writesAbout(stand, "theirs"), []);
      // A host without limits runs it; the first host does not touch its objects.
      const other = await stand.host();
      await stand.until("it runs", () => state(stand, "theirs", theirs.namespace) === "RUNNING");
      await other.drain(0);
      const before = stand.writes().length;
      await stand.pass(0.25);
      await stand.remove("Pod", "theirs-driver", theirs.namespace);
      await stand.pass(0.25);
      assert.deepEqual(stand.writes().slice(before), []);
    });

    it(`have checkpoints that are left alone: ${name}`, async (stand) => {
      await stand.create(team);
      const everybody = await stand.host();
      await stand.create(application("mine", { labels: { team: "a" } }));
      await stand.create(application("theirs", theirs));
      await stand.until("mine is done", isDone(stand, "mine"));
      await stand.until("theirs is done", isDone(stand, "theirs", theirs.namespace));
      await everybody.drain(0);
      await stand.remove("SparkApplication", "mine");
      await stand.remove("SparkApplication", "theirs", theirs.namespace);
      const before = stand.writes().length;
      await stand.host(settings);
      await stand.until("mine is cleared away", () => stand.all("Checkpoint").length === 1);
      await stand.pass(0.25);
      const about = stand.writes().slice(before);
      assert.deepEqual(
        about.filter((line) => line.includes("theirs")),
        [],
      );
      assert.deepEqual(
        stand.all("Checkpoint").map(({ metadata }) => metadata.name),
        ["sparkapplication.theirs"],
      );
    });

    it(`cannot be triggered: ${name}`, async (stand) => {
      await stand.create(team);
      const host = await stand.host(settings);
      await stand.create(application("theirs", theirs));
      await host.trigger({ kind: "SparkApplication", namespace: theirs.namespace, name: "theirs" }, "1");
      await stand.turn(60_000);
      assert.deepEqual(stand.writes(), []);
    });
  }
});

describe("namespaces that a selector chooses", () => {
  const label = (stand: Stand, spark: string | null) =>
    stand.patch("Namespace", "team", { metadata: { labels: { spark } } }, "");

  it("are in scope as soon as they have the label, and only while they have it", async (stand) => {
    await stand.create(team);
    await stand.host({ namespaceSelector: "spark=enabled" });
    await stand.create(application("early", { namespace: "team" }));
    await stand.create(application("theirs"));
    await stand.turn(30_000);
    assert.deepEqual(stand.writes(), []);
    await label(stand, "enabled");
    await stand.until("it is seen", () => state(stand, "early", "team") !== "", 20_000);
    await stand.until("it is done", isDone(stand, "early", "team"));
    await label(stand, null);
    await stand.turn(10_000);
    const before = stand.writes().length;
    await stand.create(application("late", { namespace: "team" }));
    await stand.pass(0.25);
    assert.deepEqual([stand.writes().slice(before), writesAbout(stand, "theirs")], [[], []]);
  });

  it("stay the same while namespaces cannot be listed", async (stand) => {
    await stand.create({ ...team, metadata: { ...team.metadata, labels: { spark: "enabled" } } });
    await stand.host({ namespaceSelector: "spark=enabled" });
    stand.fault(({ path }) => (/\/namespaces\?/.test(path) ? answer(403, "Forbidden", "no") : undefined));
    await stand.turn(30_000);
    await stand.create(application("app", { namespace: "team" }));
    await stand.until("it is done", isDone(stand, "app", "team"));
    assert.ok(stand.lines.some(({ message }) => message.startsWith("cannot list namespaces")));
  });
});

const line = z.object({ would: z.string(), effects: z.array(z.string()) });

/** Returns the application, and the first words of each effect that would be applied. */
const gist = (text: string): unknown => {
  const { would, effects } = line.parse(JSON.parse(text));
  return [would.split("/")[1], effects.map((effect) => effect.split(/ |: /, 2).join(" "))];
};

describe("a dry run", () => {
  it("prints each plan once and writes nothing, even for an invalid, troubled or deleted application", async (stand) => {
    const first = await stand.host();
    await stand.create(application("gone"));
    await stand.until("it is done", isDone(stand, "gone"));
    await stand.turn(30_000);
    await first.drain(0);
    await stand.remove("SparkApplication", "gone");
    const before = stand.writes().length;
    const plans: string[] = [];
    await stand.host({ shadow: tellPlans((line) => void plans.push(line)) });
    await stand.create(application("app"));
    await stand.create(application("with.dots"));
    await stand.turn(60_000);
    await stand.pass(2);
    assert.deepEqual(stand.writes().slice(before), []);
    assert.deepEqual(plans.sort().map(gist), [
      [
        "app",
        ["create services", "create configmaps", "create configmaps", "create pods", "event SparkApplicationSubmitted"],
      ],
      ["gone", ["delete pods"]],
      ["gone", []],
      ["with.dots", ["event SparkApplicationSubmissionFailed"]],
    ]);
    await stand.patch("SparkApplication", "app", { spec: { arguments: ["1"] } });
    await stand.turn(10_000);
    assert.equal(plans.length, 4, "what would be done is still the same");
    await stand.patch("SparkApplication", "app", { spec: { driver: { memory: "1q" } } });
    await stand.turn(10_000);
    assert.match(plans[4] ?? "", /1q/);
  });
});

describe("a paused application", () => {
  it("is left alone until it is resumed, and its pods continue", async (stand) => {
    await stand.host();
    await stand.create(application("app"));
    await stand.until("RUNNING", () => state(stand, "app") === "RUNNING");
    await stand.turn(1_000);
    assert.match(await rekindle(stand, "pause", "default/app"), /is paused/);
    const before = stand.writes().length;
    await stand.pass(0.5);
    assert.deepEqual([stand.writes().slice(before), state(stand, "app")], [[], "RUNNING"]);
    assert.match(await rekindle(stand, "status", "default/app"), /a user to resume it/);
    assert.match(await rekindle(stand, "resume", "default/app"), /continues/);
    await stand.until("it is done", isDone(stand, "app"), 10_000);
  });

  it("that never began starts when it is resumed", async (stand) => {
    await stand.host();
    await stand.create(application("app", { annotations: { "rekindle.dev/paused": "true" } }));
    await stand.pass(0.25);
    assert.deepEqual([stand.writes(), stand.all("Pod")], [[], []]);
    await rekindle(stand, "resume", "default/app");
    await stand.until("it is done", isDone(stand, "app"));
  });
});
