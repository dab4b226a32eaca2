/**
 * Spark applications as gangs on a real scheduler: ten of a driver and four executors where three have room. Without
 * gangs the ten drivers would take the places of the executors that they wait for.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sparkPi } from "../../../support/pi.ts";
import { sparkVersions } from "../../setup/spark.ts";
import { apachePi, hostArgs, plural } from "../apache/applications.ts";
import { killing } from "../killing.ts";
import { type Case, kubectl, must, pi, type Scene } from "../scene.ts";
import { driverLog } from "../witness.ts";
import { bindMs, type Fixture, hostFlags, marginMs, nodeCount, untilGang, untilServed } from "./fixture.ts";
import { createdTooOften, longestHalf, mostTogether } from "./judgements.ts";
import { openRecord } from "./record.ts";

const namespace = "default";
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
const annotationsAt = (at: number) => ({
  ...{ "rekindle.dev/gang": "true" },
  ...(at % 2 === 0 ? { "rekindle.dev/executors": "own" } : {}),
});

/** An API of Spark's operators: how an application of a shape is written, and where its end shows. */
type Api = {
  readonly groupVersion: string;
  /** The full name: kubectl takes the bare one from either of two API groups. */
  readonly plural: string;
  readonly hostArgs: readonly string[];
  readonly body: (name: string, at: number, shape: Shape) => object;
  readonly driverOf: (name: string) => string;
  /** States in which nothing more happens. */
  readonly last: readonly string[];
  /** True if an application with these states has succeeded. */
  readonly succeeded: (states: readonly string[]) => boolean;
};

const sparkOperator: Api = {
  groupVersion: "sparkoperator.k8s.io/v1beta2",
  plural: "sparkapplications.sparkoperator.k8s.io",
  hostArgs: hostFlags,
  body: (name, at, { executors, coreRequest }) => {
    const pod = { cores: 1, coreRequest, memory: "512m", javaOptions };
    const body = sparkPi(name, {
      arguments: ["20"],
      restartPolicy: { type: "Never" },
      driver: { ...pod, serviceAccount: "spark" },
      executor: { ...pod, instances: executors },
    });
    return { ...body, metadata: { ...body.metadata, annotations: annotationsAt(at) } };
  },
  driverOf: (name) => `${name}-driver`,
  last: ["COMPLETED", "FAILED"],
  succeeded: (states) => states.at(-1) === "COMPLETED",
};

/** Its objects are kept, so that the driver's log can be read. Rekindle's own executors have no secret of their driver. */
const apacheOperator: Api = {
  ...{ groupVersion: "spark.apache.org/v1", plural },
  hostArgs: [...hostFlags, ...hostArgs],
  body: (name, at, { executors, coreRequest }) => {
    const body = apachePi(name, sparkVersions[0] ?? "", {
      driverArgs: ["20"],
      applicationTolerations: { resourceRetainPolicy: "Always" },
      sparkConf: {
        "spark.executor.instances": `${executors}`,
        "spark.authenticate": "false",
        "spark.kubernetes.driver.request.cores": coreRequest,
        "spark.kubernetes.executor.request.cores": coreRequest,
        "spark.driver.extraJavaOptions": javaOptions,
        "spark.executor.extraJavaOptions": javaOptions,
      },
    });
    return { ...body, metadata: { ...body.metadata, annotations: annotationsAt(at) } };
  },
  driverOf: (name) => `${name}-0-driver`,
  last: ["TerminatedWithoutReleaseResources", "ResourceReleased"],
  succeeded: (states) => states.includes("Succeeded"),
};

const created = async ({ scene }: Fixture, api: Api, names: readonly string[], shape: Shape): Promise<void> => {
  const path = `/apis/${api.groupVersion}/namespaces/${namespace}/sparkapplications`;
  const posts = names.map((name, at) => scene.cluster.api.call("POST", path, api.body(name, at, shape)));
  for (const { status, body } of await Promise.all(posts)) must(status === 201, `not created: ${JSON.stringify(body)}`);
};

const ended = async (fixture: Fixture, api: Api, name: string): Promise<void> => {
  const { phases } = await untilGang(
    fixture,
    name,
    "ended",
    (gang) => api.last.includes(gang.phases.at(-1) ?? ""),
    longestMs,
  );
  must(api.succeeded(phases), `${name}: ${phases.join(" → ")}`);
  const log = await driverLog(fixture.scene.cluster.api, api.driverOf(name));
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
  api = sparkOperator,
): Promise<readonly string[]> => {
  await created(fixture, api, names, shape);
  await during(Promise.all(names.map((name) => ended(fixture, api, name))));
  await sleep(1_000);
  const events = (await Promise.all(names.map((name) => waitingEvents(fixture, name)))).flat();
  const told = events.filter((message) => /waits \(position \d+ of \d+ in queue default\): .*needs/.test(message));
  must(told.length > 0, `no Event told the position of a waiting application: ${JSON.stringify(events)}`);
  return [...judged(fixture, names, shape), told[0] ?? ""];
};

export const inDefault = async <T>(
  scene: Scene,
  work: (fixture: Fixture) => Promise<T>,
  api = sparkOperator,
): Promise<T> => {
  await untilServed(scene);
  const record = await openRecord(scene.cluster.adminKubeconfig);
  try {
    return await work({ scene, namespace, record });
  } finally {
    record.stop();
    await kubectl(scene.cluster, ["delete", "-n", namespace, api.plural, "--all", "--wait"]);
  }
};

/** More than three times as many as have room. */
export const tenNames = namesOf(10, "ten");

/** One more than have room. */
export const fewNames = namesOf(nodeCount + 1, "few");

/** A host lives long enough to start and to go on with ten applications. */
const longestLifeMs = 20_000;

/** Applications that start whole while the host is killed. */
const underKills = (scene: Scene, api: Api, names: readonly string[]): Promise<readonly string[]> =>
  inDefault(
    scene,
    async (fixture) => {
      const killer = killing(scene, api.hostArgs, longestLifeMs);
      try {
        const lines = await allEnd(fixture, names, wide, killer.during, api);
        return [...lines, `${killer.kills()} kills of the host`];
      } finally {
        await killer.stop();
      }
    },
    api,
  );

export const tenApplications: Case = {
  name: "ten Spark applications on room for three, while the host is killed: each starts whole, and all end",
  run: (scene) => underKills(scene, sparkOperator, tenNames),
};

export const fewOfApache: Case = {
  name: "four applications of spark.apache.org on room for three, while the host is killed: each starts whole, and all end",
  run: (scene) => underKills(scene, apacheOperator, namesOf(nodeCount + 1, "apache")),
};
