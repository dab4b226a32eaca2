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
/** An application that needs a whole node of 2 cpu: the number of its executors, and the cores of each of its pods. */
type Shape = { readonly executors: number; readonly coreRequest: string };

export const wide: Shape = { executors: 4, coreRequest: "400m" };

/** Starts fewer JVMs. */
export const narrow: Shape = { executors: 1, coreRequest: "1" };
/** All of them run on the two cores of a test machine. */
const longestMs = 900_000;
/** A JVM that compiles less starts sooner. */
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
/** The time from a driver's node to the executors that it asks for, at most. */
const startMs = 120_000;

const namesOf = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}-${at}`);

/** Every other application has the executors that Rekindle creates, the rest those of its driver. */
const application = (name: string, at: number, { executors, coreRequest }: Shape): object => {
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

const created = async ({ scene }: Fixture, names: readonly string[], shape: Shape): Promise<void> => {
  const posts = names.map((name, at) => scene.cluster.api.call("POST", applications, application(name, at, shape)));
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
const judged = ({ record }: Fixture, names: readonly string[], { executors }: Shape): readonly string[] => {
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
  must(waited.length >= names.length - nodeCount, `only ${waited.join(", ")} said what they lacked`);
  return [
    `${most} of ${names.length} at a time; a driver waited for its executors for ${(half / 1_000).toFixed(1)} s at most`,
  ];
};

/** Returns what the Events about an application say of its waiting. */
const waitingEvents = async ({ scene }: Fixture, name: string): Promise<readonly string[]> => {
  const query = encodeURIComponent(`involvedObject.name=${name},reason=PodGroupPending`);
  const { body } = await scene.cluster.api.call("GET", `/api/v1/namespaces/${namespace}/events?fieldSelector=${query}`);
  return [...JSON.stringify(body).matchAll(/"message":"([^"]*)"/g)].map(([, message = ""]) => message);
};

/** Creates applications of which some have room, follows them to their ends, and judges their course. */
export const allEnd = async (
  fixture: Fixture,
  names: readonly string[],
  shape: Shape,
  during = <T>(work: Promise<T>) => work,
): Promise<readonly string[]> => {
  await created(fixture, names, shape);
  await during(Promise.all(names.map((name) => ended(fixture, name))));
  await sleep(1_000);
  const events = (await Promise.all(names.map((name) => waitingEvents(fixture, name)))).flat();
  const told = events.filter((message) => /waits \(position \d+ of \d+ in queue default\): .*needs/.test(message));
  must(told.length > 0, `no Event told the position of a waiting application: ${JSON.stringify(events)}`);
  return [...judged(fixture, names, shape), told[0] ?? ""];
};

export const inDefault = async <T>(scene: Scene, work: (fixture: Fixture) => Promise<T>): Promise<T> => {
  await untilServed(scene);
  const record = await openRecord(scene.cluster.adminKubeconfig);
  try {
    return await work({ scene, namespace, record });
  } finally {
    record.stop();
    await kubectl(scene.cluster, ["delete", "-n", namespace, "sparkapplications", "--all", "--wait"]);
  }
};

/** More than three times as many as have room. */
export const tenNames = namesOf(10, "ten");

/** One more than have room. */
export const fewNames = namesOf(nodeCount + 1, "few");

/** A host lives long enough to start and to go on with ten applications. */
const longestLifeMs = 20_000;

export const tenApplications: Case = {
  name: "ten Spark applications on room for three, while the host is killed: each starts whole, and all end",
  run: (scene) =>
    inDefault(scene, async (fixture) => {
      const killer = killing(scene, hostFlags, longestLifeMs);
      try {
        const lines = await allEnd(fixture, tenNames, wide, killer.during);
        return [...lines, `${killer.kills()} kills of the host`];
      } finally {
        await killer.stop();
      }
    }),
};
