/**
 * Compares the executors that real drivers' allocators created with our builder's, made from the same call through our
 * own client.
 */
import { join } from "node:path";
import { parseDocument } from "yaml";
import { same } from "../../../shared/core/json.ts";
import { executorOf } from "../../../shared/spark/executor-pod/builder.ts";
import { type ExecutorRequest, executorMap } from "../../../shared/spark/executor-pod/request.ts";
import { build, prepare } from "../../../shared/spark/submission/client.ts";
import { identityOf } from "../../../shared/spark/submission/steps/step.ts";
import { callOf, type Input } from "./call.ts";
import { type Difference, differences, isRecord, type Json } from "./compare.ts";
import { normal } from "./normal.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { inputIn, madeIn, refusedAlike, saidBy } from "./requests.ts";

const record = (value: unknown): Json => (isRecord(value) ? value : {});

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(record) : []);

const labelsOf = (object: Json): Json => record(record(object["metadata"])["labels"]);

/** Returns a pod, or the pod template of a StatefulSet or Deployment as a pod. */
const podIn = (object: Json): Json =>
  object["kind"] === "Pod" ? object : { apiVersion: "v1", kind: "Pod", ...record(record(object["spec"])["template"]) };

const variable = (pod: Json, name: string): string | undefined => {
  const containers = list(record(pod["spec"])["containers"]);
  const found = containers.flatMap(({ env }) => list(env)).findLast((one) => one["name"] === name)?.["value"];
  return found === undefined ? undefined : `${found}`;
};

/** Returns the values that only the running driver knew: its address, and a secret that it generated. */
const knownToDriver = (pod: Json): Pick<ExecutorRequest, "authSecret"> & { readonly ip: string | undefined } => {
  const host = /@(\d+\.\d+\.\d+\.\d+):/.exec(variable(pod, "SPARK_DRIVER_URL") ?? "")?.[1];
  return { ip: host, authSecret: variable(pod, "_SPARK_AUTH_SECRET") };
};

type Shared = Omit<ExecutorRequest, "executorId" | "authSecret">;

const sharedOf = (input: Input): Shared | { readonly refused: string } => {
  const { line, ...call } = callOf(input);
  const prepared = prepare(line);
  if ("refused" in prepared) return prepared;
  const identity = identityOf(line.name, "compat");
  const { conf, program } = prepared;
  const built = build({ conf, program, sparkVersion: input.sparkVersion, identity, ...call });
  if ("refused" in built) return built;
  const template = call.templates.executor;
  return {
    conf: built.confs,
    sparkVersion: input.sparkVersion,
    applicationId: built.confs.get("spark.app.id") ?? "",
    prefix: identity.prefix,
    driver: { name: built.driverPodName, uid: "00000000-0000-0000-0000-000000000000", ip: undefined },
    user: call.machine.user,
    localDirs: call.machine.localDirs ?? conf.get("spark.local.dir") ?? identity.localDir,
    configMap: `spark-exec-${"0".repeat(16)}-conf-map`,
    confFiles: [],
    template: template === undefined ? undefined : parseDocument(template).toJS(),
  };
};

const ourMap = ({ configMap, conf, applicationId, driver }: Shared): Json =>
  executorMap({
    name: configMap,
    namespace: conf.get("spark.kubernetes.namespace") ?? "default",
    applicationId,
    driver: { name: driver.name, uid: driver.uid },
    files: {},
  });

/** Builds our counterpart of a recorded object: an executor by its id, or the claim or ConfigMap that goes with it. */
const inPlaceOf = (shared: Shared, theirs: Json, pods: readonly Json[]): Json | { readonly refused: string } => {
  if (theirs["kind"] === "ConfigMap") return ourMap(shared);
  const model = pods[0] ?? theirs;
  const { ip, authSecret } = knownToDriver(podIn(model));
  const name = `${record(theirs["metadata"])["name"]}`;
  const executorId =
    theirs["kind"] === "PersistentVolumeClaim"
      ? (/-exec-(\w+)-pvc-\d+$/.exec(name)?.[1] ?? "7")
      : `${labelsOf(podIn(theirs))["spark-exec-id"]}`;
  const made = executorOf({ ...shared, executorId, authSecret, driver: { ...shared.driver, ip } });
  if ("refused" in made) return made;
  if (theirs["kind"] !== "PersistentVolumeClaim") return made.pod;
  return made.claims.find((claim) => same(record(normal(claim)["metadata"])["name"], name)) ?? {};
};

/** True for an object whose controller creates the pods; only its template is an executor's. */
const isSet = ({ kind }: Json): boolean => kind === "StatefulSet" || kind === "Deployment";

/** Returns the part of a recorded object that is compared. */
const comparable = (theirs: Json): Json => (isSet(theirs) ? podIn(theirs) : theirs);

const compared = (input: Input, recorded: readonly Json[]): readonly Difference[] => {
  const shared = sharedOf(input);
  if ("refused" in shared) return refusedAlike(input, shared.refused);
  const pods = recorded.filter((object) => object["kind"] === "Pod" || isSet(object));
  const asked = recorded.length > 0 ? recorded : [{ kind: "Pod", metadata: { labels: { "spark-exec-id": "7" } } }];
  return asked.flatMap((theirs) => {
    const ours = inPlaceOf(shared, theirs, pods);
    if (typeof ours["refused"] === "string") return refusedAlike(input, ours["refused"]);
    if (recorded.length === 0) return [{ path: "refused", ours: "accepted", theirs: saidBy(input) }];
    const label = `${theirs["kind"]} ${record(theirs["metadata"])["name"]}`;
    return differences(normal(record(ours)), comparable(theirs), label);
  });
};

/** Returns undefined if the recorded driver ended without an error before it created an object. */
export const executorsOutcome = (name: string, folder: string): Outcome | undefined => {
  const input = inputIn(join(folder, "input.json"));
  const recorded = madeIn(join(folder, "normalized.json"));
  if (recorded.length === 0 && input.exitCode === 0) return undefined;
  return outcomeOf(name, "executor", compared(input, recorded));
};
