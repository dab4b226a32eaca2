/**
 * A stand-in for a controller that keeps its memory in the status: it trusts the status, submits, and then writes the
 * status. The code is our own; the order of its writes is the Spark operator's.
 */
import { ApiError } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";
import type { Ref, Stored } from "../../../shared/core/object.ts";
import type { World } from "../../../shared/engine/context/world.ts";
import { numberAt, textAt } from "../sweep/fields.ts";
import type { Takes } from "../sweep/fixture.ts";

const resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "sparkapplications",
  kind: "SparkApplication",
} as const;
const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" } as const;

const podRef = (namespace: string, name: string): Ref => ({ resource: pods, namespace, name });

type Told = { readonly state: string; readonly attempts: number; readonly driver: string };

const toldBy = (app: Stored): Told => ({
  state: textAt(app, "status", "applicationState", "state") ?? "",
  attempts: numberAt(app, "status", "submissionAttempts") ?? 0,
  driver: textAt(app, "status", "driverInfo", "podName") ?? "",
});

const write = async ({ cluster }: World, app: Stored, { state, attempts, driver }: Told): Promise<object> => {
  const { namespace = "", name, resourceVersion } = app.metadata;
  const status = { applicationState: { state }, submissionAttempts: attempts, driverInfo: { podName: driver } };
  await cluster.patchStatus({ resource, namespace, name }, resourceVersion, status);
  return { did: state };
};

const driverFor = (app: Stored, name: string, attempt: number): object => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name,
    namespace: app.metadata.namespace,
    labels: {
      "sparkoperator.k8s.io/app-name": app.metadata.name,
      "sparkoperator.k8s.io/launched-by-spark-operator": "true",
      "spark-role": "driver",
      "spark-app-selector": `spark-${app.metadata.uid}-${attempt}`,
    },
    annotations: { "simulator.rekindle.dev/script": scriptOf(app) },
    ownerReferences: [
      {
        apiVersion: "sparkoperator.k8s.io/v1beta2",
        kind: resource.kind,
        name: app.metadata.name,
        uid: app.metadata.uid,
      },
    ],
  },
  spec: { restartPolicy: "Never", containers: [{ name: "spark-kubernetes-driver", image: "spark" }] },
});

const scriptOf = (app: Stored): string =>
  textAt(app, "spec", "driver", "annotations", "simulator.rekindle.dev/script") ?? "[]";

/** Creates the driver, then writes the status. An existing driver of the same name counts as a failed submission. */
const submit = async (world: World, app: Stored, drawn: string | undefined): Promise<object> => {
  const attempts = toldBy(app).attempts + 1;
  const { name, namespace = "" } = app.metadata;
  const driver = `${name}-${drawn === undefined ? "" : `${drawn}-`}driver`;
  const ref = podRef(namespace, driver);
  try {
    await world.cluster.create(ref, driverFor(app, driver, attempts) as Stored);
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.reason !== "AlreadyExists") throw cause;
    return write(world, app, { state: "FAILED", attempts, driver });
  }
  return write(world, app, { state: "SUBMITTED", attempts, driver });
};

const phases: Readonly<Record<string, string>> = { Running: "RUNNING", Succeeded: "COMPLETED", Failed: "FAILING" };

const follow = async (world: World, app: Stored, told: Told): Promise<object | undefined> => {
  const { value: pod } = await world.cluster.get(podRef(app.metadata.namespace ?? "", told.driver));
  const state = pod === undefined ? "FAILING" : phases[textAt(pod, "status", "phase") ?? ""];
  if (state === undefined || state === told.state) return { did: "nothing" };
  return write(world, app, { ...told, state });
};

/** Deletes the driver and writes PENDING_RERUN, or writes FAILED if no retry is left. */
const again = async (world: World, app: Stored, told: Told): Promise<object> => {
  const policy = textAt(app, "spec", "restartPolicy", "type");
  const retries = numberAt(app, "spec", "restartPolicy", "onFailureRetries") ?? 0;
  const over = policy === "Never" || (policy === "OnFailure" && told.attempts > retries);
  if (over) return write(world, app, { ...told, state: "FAILED" });
  const ref = podRef(app.metadata.namespace ?? "", told.driver);
  const { value: pod } = await world.cluster.get(ref);
  if (pod !== undefined) await world.cluster.remove(ref, { uid: pod.metadata.uid });
  return write(world, app, { ...told, state: "PENDING_RERUN" });
};

const step = async (world: World, message: Message, draw: () => string | undefined): Promise<object | undefined> => {
  const { namespace, name } = message;
  const { value: app } = await world.cluster.get({ resource, namespace, name });
  if (app === undefined) return { did: "nothing" };
  const told = toldBy(app);
  switch (told.state) {
    case "":
    case "PENDING_RERUN":
      return submit(world, app, draw());
    case "SUBMITTED":
    case "RUNNING":
      return follow(world, app, told);
    case "FAILING":
      return again(world, app, told);
    default:
      return { did: "nothing" };
  }
};

/**
 * Returns a rule whose driver names contain the text that `draw` returns; undefined means one name for every driver of
 * an application.
 */
export const submitThenWrite =
  (draw: () => string | undefined): Takes =>
  async (world, messages) => {
    const [message] = messages;
    if (message === undefined || message.kind !== resource.kind) return { did: "nothing" };
    try {
      return await step(world, message, draw);
    } catch {
      return undefined;
    }
  };
