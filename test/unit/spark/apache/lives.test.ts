/**
 * Whole lives of Apache's SparkApplication on a simulated cluster: as planned, and, where the sweep has no such life, with a
 * death at every write of a step.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { everyNth } from "../../../support/cases.ts";
import type { Fields } from "./fixtures.ts";
import { type Death, type Given, openStand, pathOf, type Stand, type State } from "./stand.ts";

const conf = { "spark.kubernetes.container.image": "x", "spark.executor.instances": "2" };

const running = ["Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy"];
const again = ["ScheduledToRestart", ...running.slice(1)];

const tolerations = (applicationTolerations: Fields): Fields => ({ sparkConf: conf, applicationTolerations });

type Life = Given & {
  readonly name: string;
  readonly steps: number;
  /** The sweep (`proof/sweep/apache/scenarios.ts`) has no such life, or does not count its Events. */
  readonly unswept?: true;
  /** Done before the step of this number. */
  readonly act?: readonly [step: number, act: (stand: Stand) => void];
  readonly drivers: readonly string[];
  /** Undefined: the application is gone. */
  readonly states: readonly string[] | undefined;
  /** Objects of the attempt at the end, without executors; absent: none. */
  readonly left?: readonly string[];
  /** Losses of executors, each of which is told once; absent: none. */
  readonly losses?: number;
};

const driverPath = "/api/v1/namespaces/default/pods/pi-0-driver";

const mapsPath = "/api/v1/namespaces/default/configmaps";

const podsPath = "/api/v1/namespaces/default/pods";

/** A pod that anyone may create: labels are no evidence. */
const stranger = {
  metadata: { name: "stranger", labels: { "spark.operator/spark-app-name": "pi", "spark-role": "driver" } },
  spec: { restartPolicy: "Never", containers: [{ name: "main", image: "x" }] },
};

const remove = (stand: Stand): void => {
  assert.equal(stand.request("DELETE", pathOf()), 200);
};

const lives: readonly Life[] = [
  {
    name: "succeeds",
    spec: tolerations({}),
    scripts: [{ jobMs: 4_000 }],
    steps: 16,
    drivers: ["pi-0-driver"],
    states: [...running, "Succeeded", "ResourceReleased"],
  },
  {
    name: "fails, and is restarted",
    spec: tolerations({
      restartConfig: { restartPolicy: "OnFailure", maxRestartAttempts: 1, restartBackoffMillis: 5_000 },
    }),
    scripts: [{ jobMs: 3_000, exitCode: 1 }, { jobMs: 3_000 }],
    steps: 32,
    drivers: ["pi-0-driver", "pi-1-driver"],
    states: [...running, "Failed", ...again, "Succeeded", "ResourceReleased"],
  },
  {
    name: "fails at once",
    spec: tolerations({}),
    scripts: [{ runMs: 500, exitCode: 1 }],
    steps: 20,
    drivers: ["pi-0-driver"],
    states: ["Submitted", "DriverRequested", "Failed", "ResourceReleased"],
  },
  {
    name: "has no image, and times out",
    spec: tolerations({ applicationTimeoutConfig: { driverStartTimeoutMillis: 9_000 } }),
    scripts: [{ pull: "fails" }],
    steps: 16,
    drivers: ["pi-0-driver"],
    states: ["Submitted", "DriverRequested", "DriverStartTimedOut", "ResourceReleased"],
  },
  {
    name: "is deleted while it runs",
    spec: tolerations({}),
    scripts: [{ hangs: true }],
    steps: 20,
    act: [5, remove],
    drivers: ["pi-0-driver"],
    states: undefined,
  },
  {
    name: "is deleted while it runs, with the finalizer of upstream",
    unswept: true,
    spec: tolerations({}),
    metadata: { finalizers: ["sparkapplications.spark.apache.org/finalizer"] },
    scripts: [{ hangs: true }],
    steps: 24,
    act: [5, remove],
    drivers: ["pi-0-driver"],
    states: undefined,
  },
  {
    name: "loses its driver",
    spec: tolerations({}),
    scripts: [{ hangs: true }],
    steps: 24,
    act: [5, (stand) => assert.equal(stand.request("DELETE", driverPath), 200)],
    drivers: ["pi-0-driver"],
    states: [...running, "Failed", "ResourceReleased"],
  },
  {
    name: "loses an executor, which its driver replaces",
    unswept: true,
    spec: tolerations({ instanceConfig: { initExecutors: 2, minExecutors: 2 } }),
    scripts: [{ jobMs: 30_000 }],
    steps: 30,
    act: [5, (stand) => stand.killExecutor()],
    losses: 1,
    drivers: ["pi-0-driver"],
    states: [
      ...running,
      "RunningWithBelowThresholdExecutors",
      "RunningHealthy",
      "RunningWithBelowThresholdExecutors",
      "Succeeded",
      "ResourceReleased",
    ],
  },
  {
    name: "names a ConfigMap of others",
    spec: { ...tolerations({}), configMapSpecs: [{ name: "shared", data: { a: "mine" } }] },
    scripts: [{ hangs: true }],
    steps: 14,
    act: [
      0,
      (stand) =>
        assert.equal(stand.request("POST", mapsPath, { metadata: { name: "shared" }, data: { a: "theirs" } }), 201),
    ],
    drivers: [],
    states: ["Submitted", "SchedulingFailure", "ResourceReleased"],
  },
  {
    name: "meets a pod of others with its labels",
    unswept: true,
    spec: tolerations({}),
    scripts: [{ jobMs: 4_000 }],
    steps: 18,
    act: [0, (stand) => assert.equal(stand.request("POST", podsPath, stranger), 201)],
    drivers: ["stranger", "pi-0-driver"],
    states: [...running, "Succeeded", "ResourceReleased"],
    left: ["pods stranger"],
  },
  {
    name: "is a mark of upstream's health",
    spec: tolerations({}),
    metadata: { labels: { "spark.operator/sentinel": "true" } },
    scripts: [],
    steps: 3,
    drivers: [],
    states: [],
  },
  {
    name: "is suspended",
    spec: { ...tolerations({}), suspend: true },
    scripts: [],
    steps: 3,
    drivers: [],
    states: ["Submitted"],
  },
  {
    name: "is refused",
    spec: { ...tolerations({}), deploymentMode: "ClientMode" },
    scripts: [],
    steps: 4,
    drivers: [],
    states: ["Submitted", "Failed", "ResourceReleased"],
  },
  {
    name: "expires",
    spec: tolerations({ ttlAfterStopMillis: 20_000 }),
    scripts: [{ jobMs: 3_000 }],
    steps: 24,
    drivers: ["pi-0-driver"],
    states: undefined,
  },
  {
    name: "keeps its objects",
    spec: tolerations({ resourceRetainPolicy: "Always" }),
    scripts: [{ jobMs: 4_000 }],
    steps: 14,
    drivers: ["pi-0-driver"],
    states: [...running, "Succeeded", "TerminatedWithoutReleaseResources"],
    left: ["pods pi-0-driver", "configmaps pi-0-spark-drv-conf-map", "networkpolicies.networking.k8s.io pi-0-policy"],
  },
];

const lived = async (life: Life, death?: Death): Promise<Stand> => {
  const { steps, act } = life;
  const stand = openStand(life, death);
  const [before, doing] = act ?? [steps, () => {}];
  await stand.run(before);
  doing(stand);
  await stand.run(steps - before);
  return stand;
};

const namesIn = (states: readonly State[] | undefined): readonly string[] | undefined =>
  states?.map(({ summary }) => summary);

/** States that a look may pass over when it comes late. */
const passing: ReadonlySet<string> = new Set([...running.slice(2), "RunningWithBelowThresholdExecutors"]);

const lasting = (names: readonly string[] | undefined): readonly string[] | undefined =>
  names?.filter((name) => !passing.has(name));

/** The Events of states, and the number of those about executors. */
const toldOf = (stand: Stand): readonly [states: readonly string[], losses: number] => {
  const states = stand.told().filter((reason) => reason !== "ExecutorLost");
  return [states.toSorted(), stand.told().length - states.length];
};

/** The objects that the attempts left; executors are their driver's, and have names of its own. */
const leftOf = (stand: Stand): readonly string[] => stand.left().filter((one) => !/-exec-\d+$/.test(one));

describe("the life of an application that", () => {
  for (const life of lives)
    test(life.name, async () => {
      const stand = await lived(life);
      assert.deepEqual(
        [stand.drivers, namesIn(stand.states()), leftOf(stand)],
        [life.drivers, life.states, life.left ?? []],
      );
      if (life.states !== undefined) assert.deepEqual(toldOf(stand), [life.states.toSorted(), life.losses ?? 0]);
    });

  for (const life of lives.filter(({ unswept }) => unswept))
    test(`${life.name}, with a death at every write`, async () => {
      const { writes } = await lived(life);
      const deaths = Array.from({ length: writes() }, (_, at) =>
        (["never", "before", "late"] as const).map((served): Death => ({ write: at + 1, served })),
      ).flat();
      for (const death of everyNth(15, deaths, life.name.length)) {
        const stand = await lived(life, death);
        const states = stand.states();
        const at = `death at write ${death.write}, served ${death.served}`;
        assert.deepEqual(
          [stand.drivers, lasting(namesIn(states)), leftOf(stand)],
          [life.drivers, lasting(life.states), life.left ?? []],
          at,
        );
        assert.deepEqual(
          states?.map(({ number }) => number),
          states?.map((_, number) => number),
          at,
        );
        // Each state is told once, however short it was, and so is each loss.
        if (states !== undefined) assert.deepEqual(toldOf(stand), [namesIn(states)?.toSorted(), life.losses ?? 0], at);
      }
    });

  test("fails at once has one driver, also where a creation arrives late", async () => {
    const life = lives.find(({ name }) => name.startsWith("fails at once")) ?? assert.fail("no such life");
    for (const write of [2, 3, 4, 5, 6]) {
      const { drivers } = await lived(life, { write, served: "late" });
      assert.deepEqual(drivers, ["pi-0-driver"], `write ${write}`);
    }
  });

  test("is a mark of upstream's health is not written to", async () => {
    const life = lives.find(({ name }) => name === "is a mark of upstream's health") ?? assert.fail("no such life");
    assert.equal((await lived(life)).writes(), 0);
  });

  test("names a ConfigMap of others leaves it as it is", async () => {
    const life = lives.find(({ name }) => name === "names a ConfigMap of others") ?? assert.fail("no such life");
    const stand = await lived(life);
    assert.deepEqual(stand.simulator.store.get("configmaps", "default/shared")?.["data"], { a: "theirs" });
    assert.match(stand.messages().join("\n"), /shared/);
  });
});
