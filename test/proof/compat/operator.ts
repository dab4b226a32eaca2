/**
 * Compares upstream's operator with ours in two parts: its arguments with our arguments, and the objects that Spark
 * made of them with our client's.
 */
import { existsSync, readFileSync } from "node:fs";
import { argumentsOf } from "../../../shared/spark/submission/arguments/argv.ts";
import { templateOf } from "../../../shared/spark/submission/pods/pod.ts";
import { type Call, callOf } from "./call.ts";
import { clientObjects } from "./client.ts";
import { differences, isRecord, type Json } from "./compare.ts";
import { compared, type Golden, golden, recalled, stored, submitted, submitterOf } from "./golden.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { driverIn, ofDriver } from "./ownership.ts";

const linesOf = (file: string): readonly string[] => readFileSync(file, "utf8").replace(/\n$/, "").split("\n");

const input = { sparkVersion: "", env: {}, exitCode: 0, errors: [] };

/** Returns the confs that `spark-submit`'s arguments set; of two with one key the later wins. */
const recordedArguments = (file: string): Json => {
  const { line, proxyUser } = callOf({ ...input, args: [...linesOf(file)], files: {} });
  const { mainClass, resource, arguments: given, confs, options } = line;
  return { mainClass, resource, arguments: given, confs: Object.fromEntries(confs), options, proxyUser };
};

/** Returns our arguments for the application. */
export const toldBy = ({ application, spec, submissionId }: Golden): ReturnType<typeof argumentsOf> => {
  const { name, namespace, labels = {} } = application.metadata;
  return argumentsOf({ name, namespace, labels, spec, submissionId });
};

export const argumentsOutcome = (name: string, file: string, argsFile: string): Outcome => {
  const ours = toldBy(golden(file));
  return outcomeOf(
    name,
    "operator",
    differences({ ...ours, confs: Object.fromEntries(ours.confs) }, recordedArguments(argsFile), "arguments"),
  );
};

/** Returns the template that upstream writes to its disk: the user's, with the application as its owner. */
const templateFile = ({ application, spec }: Golden, role: "driver" | "executor"): string => {
  const { name, uid } = application.metadata;
  const owner = { apiVersion: application.apiVersion, kind: application.kind, name, uid };
  const template = templateOf(role, spec[role].template);
  const metadata = isRecord(template["metadata"]) ? template["metadata"] : {};
  const whole = role === "driver" ? { ...owner, controller: true, blockOwnerDeletion: true } : owner;
  return JSON.stringify({ ...template, metadata: { ...metadata, ownerReferences: [whole] } });
};

const callFrom = (from: Golden, argsFile: string): Call => {
  const { user, apiServer } = submitterOf(from);
  const templates = { driver: JSON.parse(templateFile(from, "driver")), executor: templateFile(from, "executor") };
  if (existsSync(argsFile)) {
    const call = callOf({ ...input, args: [...linesOf(argsFile)], files: {} });
    return { ...call, machine: { user }, templates };
  }
  const { proxyUser, ...line } = toldBy(from);
  const { name } = from.application.metadata;
  return {
    line: { ...line, name, master: `k8s://${apiServer}`, submittedAt: 0 },
    proxyUser,
    machine: { user },
    templates,
  };
};

/** Compares the objects that Spark's client made of upstream's arguments with the objects of our client for them. */
export const goldenOutcome = (name: string, file: string, argsFile: string): Outcome => {
  const from = golden(file);
  const ours = clientObjects(callFrom(from, argsFile), submitterOf(from).version);
  if ("refused" in ours)
    return outcomeOf(name, "operator", [{ path: "refused", ours: ours.refused, theirs: "accepted" }]);
  const theirs = submitted(from).map(recalled);
  const driver = driverIn(theirs);
  const { namespace } = from.application.metadata;
  const mine = ours.objects.map((object) => stored(inNamespace(object, namespace)));
  const made = theirs.filter(({ metadata }) => !isMetricsMap(metadata));
  return outcomeOf(
    name,
    "operator",
    compared(
      mine,
      made.map((object) => ofDriver(object, driver)),
    ),
  );
};

/** Sets the namespace, which Spark's client leaves to the path of its POST. */
const inNamespace = (object: Json, namespace: string): Json => ({
  ...object,
  metadata: { ...(isRecord(object["metadata"]) ? object["metadata"] : {}), namespace },
});

/** True for the ConfigMap of metrics, which the controller creates before it submits. */
const isMetricsMap = (metadata: unknown): boolean =>
  isRecord(metadata) && /-prom-conf$/.test(`${metadata["name"]}`) && metadata["ownerReferences"] !== undefined;
