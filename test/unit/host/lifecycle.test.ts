/** Applications through a whole host: to their end, with a second host beside it, across a drain, in a burst. */
import assert from "node:assert/strict";
import { describe } from "node:test";
import { application, stateOf, statusOf } from "./objects.ts";
import { itOnStand, type Stand } from "./stand.ts";

const isDriver = (name: string): boolean => name.endsWith("-driver");

/** Collects the UIDs of all driver pods that are created, by pod name. */
const watchDrivers = ({ simulator }: Stand): ReadonlyMap<string, ReadonlySet<string>> => {
  const drivers = new Map<string, Set<string>>();
  simulator.subscribe(({ table, object: { metadata } }) => {
    if (table !== "pods" || !isDriver(metadata.name)) return;
    drivers.set(metadata.name, (drivers.get(metadata.name) ?? new Set()).add(metadata.uid));
  });
  return drivers;
};

const completed = (stand: Stand, ...names: readonly string[]): Promise<void> =>
  stand.until("all are COMPLETED", () =>
    names.every((name) => stateOf(stand.get("SparkApplication", name)) === "COMPLETED"),
  );

const loud = ({ lines }: Stand): readonly string[] =>
  lines.filter(({ level }) => level === "warn" || level === "error").map(({ message }) => message);

/** Returns the messages about applications at level info; the line of a resync is left out. */
const told = ({ lines }: Stand): readonly string[] =>
  lines
    .filter(({ level, message }) => level !== "debug" && !message.startsWith("resync: "))
    .map(({ message }) => message);

/** Returns the writes of the next `ms`. */
const writtenIn = async (stand: Stand, ms: number): Promise<readonly string[]> => {
  const before = stand.writes().length;
  await stand.turn(ms);
  return stand.writes().slice(before);
};

const names = ["one", "two", "three", "four", "five"];

const it = itOnStand();

describe("a host", () => {
  it("runs an application to its end, logs one line for each event, and then writes nothing", async (stand) => {
    const drivers = watchDrivers(stand);
    await stand.host();
    await stand.create(application("spark-pi"));
    await completed(stand, "spark-pi");
    await stand.turn(30_000);
    assert.deepEqual(
      told(stand).map((line) => line.replace(/spark-pi-[0-9a-f]{16}-exec/, "exec")),
      [
        "SparkApplication spark-pi was submitted successfully",
        "Driver spark-pi-driver is running",
        "Executor exec-1 is pending",
        "Executor exec-1 is running",
        "Executor exec-1 completed",
        "Driver spark-pi-driver completed",
        "SparkApplication spark-pi completed",
      ],
    );
    assert.equal(drivers.get("spark-pi-driver")?.size, 1);
    const object = stand.get("SparkApplication", "spark-pi");
    assert.deepEqual([statusOf(object, "executionAttempts"), statusOf(object, "submissionAttempts")], [1, 1]);
    assert.deepEqual(await writtenIn(stand, 1_800_000), []);
  });

  it("leaves neither pods nor a checkpoint of an application that is deleted while it runs", async (stand) => {
    await stand.host();
    await stand.create(application("spark-pi"));
    await stand.until("RUNNING", () => stateOf(stand.get("SparkApplication", "spark-pi")) === "RUNNING");
    await stand.remove("SparkApplication", "spark-pi");
    await stand.until("nothing is left", () => [...stand.all("Pod"), ...stand.all("Checkpoint")].length === 0);
    assert.deepEqual(loud(stand), []);
  });

  itOnStand({ slow: true })(
    "leaves nothing half done when it is drained, and the next host continues from there",
    async (stand) => {
      const drivers = watchDrivers(stand);
      const first = await stand.host({ concurrency: 2 });
      for (const name of names) await stand.create(application(name));
      const before = stand.writes().length;
      while (stand.writes().length < before + 4) await new Promise((resolve) => setImmediate(resolve));
      assert.ok((await first.depth()).busy > 0, "steps are in flight");
      await first.drain(20_000);
      assert.equal((await first.depth()).busy, 0);
      const begun = stand.all("Checkpoint").length;
      assert.ok(begun > 0 && begun < names.length, `${begun} begun`);
      assert.equal(drivers.size, begun, "what was saved was done, too");
      assert.deepEqual(await writtenIn(stand, 60_000), []);
      await stand.host();
      await completed(stand, ...names);
      assert.deepEqual([[...drivers.values()].map(({ size }) => size), loud(stand)], [names.map(() => 1), []]);
    },
  );

  itOnStand({ scripts: { "*": [{ hangs: true }] } })(
    "takes a burst of 200 applications with less than ten requests each until their drivers exist",
    async (stand) => {
      await stand.host();
      const before = stand.asked.length;
      for (let n = 0; n < 200; n++) await stand.create(application(`app-${n}`));
      const drivers = (): number => stand.all("Pod").filter(({ metadata }) => isDriver(metadata.name)).length;
      await stand.until("all drivers stand", () => drivers() === 200, 30_000);
      assert.ok(stand.asked.length - before <= 10 * 200, `${stand.asked.length - before} requests`);
      assert.deepEqual(loud(stand), []);
    },
  );
});

describe("two hosts on one cluster", () => {
  itOnStand({ slow: true })(
    "create one driver for each application, log no trouble, come to the same end, and then write nothing",
    async (stand) => {
      const drivers = watchDrivers(stand);
      await Promise.all([stand.host(), stand.host()]);
      for (const name of names) await stand.create(application(name));
      await completed(stand, ...names);
      await stand.turn(60_000);
      assert.deepEqual([[...drivers.values()].map(({ size }) => size), loud(stand)], [names.map(() => 1), []]);
      const counted = names.map((name) => statusOf(stand.get("SparkApplication", name), "executionAttempts"));
      assert.deepEqual(
        counted,
        names.map(() => 1),
      );
      assert.deepEqual(await writtenIn(stand, 900_000), []);
      assert.ok(
        stand.lines.some(({ fields }) => fields["did"] === "raced"),
        "they met",
      );
    },
  );
});

describe("a resync", () => {
  it("finds an application whose watch event was lost", async (stand) => {
    await stand.host();
    stand.cut();
    stand.fault(({ path }) => (path.includes("watch=1") ? new Error("no watches today") : undefined));
    await stand.create(application("spark-pi"));
    await stand.turn(290_000);
    assert.equal(stateOf(stand.get("SparkApplication", "spark-pi")), "");
    await stand.turn(20_000);
    assert.equal(stateOf(stand.get("SparkApplication", "spark-pi")), "SUBMITTED");
    await stand.turn(300_000);
    assert.equal(stateOf(stand.get("SparkApplication", "spark-pi")), "COMPLETED");
  });

  it("cleans up after an application that was deleted while no host ran", async (stand) => {
    const first = await stand.host();
    await stand.create(application("spark-pi"));
    await stand.until("RUNNING", () => stateOf(stand.get("SparkApplication", "spark-pi")) === "RUNNING");
    await first.drain(0);
    await stand.remove("SparkApplication", "spark-pi");
    assert.equal(stand.all("Checkpoint").length, 1);
    await stand.host();
    await stand.until("the checkpoint goes", () => stand.all("Checkpoint").length === 0);
    assert.deepEqual([stand.all("Pod"), loud(stand)], [[], []]);
  });

  it("finds a spec that was changed while no host ran", async (stand) => {
    const first = await stand.host();
    await stand.create(application("spark-pi"));
    await completed(stand, "spark-pi");
    await stand.turn(30_000);
    await first.drain(0);
    await stand.patch("SparkApplication", "spark-pi", { spec: { arguments: ["7"] } });
    const drivers = watchDrivers(stand);
    await stand.host();
    await stand.until("it runs again", () => drivers.get("spark-pi-driver")?.size === 2);
    await completed(stand, "spark-pi");
  });
});
