/**
 * Spark applications as gangs on a real scheduler: ten of a driver and four executors where three have room. Without
 * gangs the ten drivers would take the places of the executors that they wait for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sparkPi } from "../../../support/pi.ts";
import { killing } from "../killing.ts";
import { type Case, kubectl, must, pi, type Scene } from "../scene.ts";
import { driverLog } from "../witness.ts";
import { bindMs, type Fixture, hostFlags, marginMs, nodeCount, untilGang, untilServed } from "./fixture.ts";
import { createdTooOften, longestHalf, mostTogether } from "./judgements.ts";
import { openRecord } from "./record.ts";

const namespace = "default";
const applications = `/apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications`;
const count = 10;
const executors = 4;
/** A node of 2 cpu has room for the five pods of one application. */
const coreRequest = "400m";
/** All of them run on the two cores of a test machine. */
const longestMs = 900_000;
/** A JVM that compiles less starts sooner. */
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
/** The time from a driver's node to the executors that it asks for, at most. */
const startMs = 120_000;

const names = Array.from({ length: count }, (_, at) => `ten-${at}`);

/** Every other application has the executors that Rekindle creates, the rest those of its driver. */
const application = (name: string, at: number): object => {
  const pod = { cores: 1, coreRequest, memory: "512m", javaOptions };
  const body = sparkPi(name, {
    arguments: ["20"],
    restartPolicy: { type: "Never" },
    driver: { ...pod, serviceAccount: "spark" },
    executor: { ...pod, instances: executors },
  });
  const annotations = { "rekindle.dev/gang": "true", ...(at % 2 === 0 ? { "rekindle.dev/executors": "own" } : {}) };
  return { ...body, metadata: { ...body.metadata, annotations } };
};

const created = async ({ scene }: Fixture): Promise<void> => {
  const posts = names.map((name, at) => scene.cluster.api.call("POST", applications, application(name, at)));
  for (const { status, body } of await Promise.all(posts)) must(status === 201, `not created: ${JSON.stringify(body)}`);
};

const ended = async (fixture: Fixture, name: string): Promise<void> => {
  const isOver = (phases: readonly string[]): boolean => ["COMPLETED", "FAILED"].includes(phases.at(-1) ?? "");
  const { phases } = await untilGang(fixture, name, "ended", (gang) => isOver(gang.phases), longestMs);
  must(phases.at(-1) === "COMPLETED", `${name}: ${phases.join(" → ")}`);
  const log = await driverLog(fixture.scene.cluster.api, `${name}-driver`);
  must(pi.test(log), `the driver of ${name} has no answer: ${log.slice(-300)}`);
};

/** Asserts that each pod came after a plan of its group, once, and that no more gangs than have room were there. */
const judged = ({ record }: Fixture): readonly string[] => {
  const changes = record.changes(namespace).filter(({ job }) => names.includes(job));
  for (const name of names) {
    const { plans } = record.of(namespace, name);
    const first = changes.find(({ job }) => job === name)?.at ?? 0;
    must(plans.size > 0, `${name} had no plan`);
    must(Math.min(...plans.keys()) <= first, `a pod of ${name} came before its plan`);
  }
  // Executors may outlast their driver for a moment; a gang that starts has room beside them.
  const most = mostTogether(changes.filter(({ pod }) => pod.endsWith("-driver")));
  must(most <= nodeCount, `${most} drivers ran at the same time, and ${nodeCount} applications have room`);
  const twice = createdTooOften(changes, () => 1);
  must(twice.length === 0, twice.join("; "));
  const half = Math.max(...names.map((name) => longestHalf(changes, name, executors + 1, Date.now())));
  must(half <= bindMs + startMs + marginMs, `a part of a gang held its node for ${(half / 1_000).toFixed(1)} s`);
  const waited = names.filter((name) => [...record.of(namespace, name).reasons].some((why) => /needs/.test(why)));
  must(waited.length >= count - nodeCount, `only ${waited.join(", ")} said what they lacked`);
  return [
    `${most} of ${count} at a time; a driver waited for its executors for ${(half / 1_000).toFixed(1)} s at most`,
  ];
};

const inDefault = async <T>(scene: Scene, work: (fixture: Fixture) => Promise<T>): Promise<T> => {
  await untilServed(scene);
  const record = await openRecord(scene.cluster.adminKubeconfig);
  try {
    return await work({ scene, namespace, record });
  } finally {
    record.stop();
    await kubectl(scene.cluster, ["delete", "-n", namespace, "sparkapplications", "--all", "--wait"]);
  }
};

/** A host lives long enough to start and to go on with ten applications. */
const longestLifeMs = 20_000;

export const tenApplications: Case = {
  name: "ten Spark applications on room for three, while the host is killed: each starts whole, and all end",
  run: (scene) =>
    inDefault(scene, async (fixture) => {
      const killer = killing(scene, hostFlags, longestLifeMs);
      try {
        await created(fixture);
        await killer.during(Promise.all(names.map((name) => ended(fixture, name))));
      } finally {
        await killer.stop();
      }
      await sleep(1_000);
      return [...judged(fixture), `${killer.kills()} kills of the host`];
    }),
};
