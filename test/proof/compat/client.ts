/**
 * Compares the real `spark-submit` with our client: the same call must create the same objects in the same order, or be
 * refused for the same reason.
 */
import { join } from "node:path";
import { build, prepare } from "../../../shared/spark/submission/client.ts";
import { assembled } from "../../../shared/spark/submission/pods/pod.ts";
import { identityOf } from "../../../shared/spark/submission/steps/step.ts";
import { type Call, callOf, type Input } from "./call.ts";
import { type Difference, differences, isRecord, type Json } from "./compare.ts";
import { normal } from "./normal.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { driverIn, ofDriver } from "./ownership.ts";
import { inputIn, madeIn, refusedAlike, saidBy } from "./requests.ts";

type Made = { readonly objects: readonly Json[] } | { readonly refused: string };

/** Lists our objects in the real client's order, without its watch: the first objects come again after the pod. */
export const clientObjects = (call: Call, sparkVersion: string): Made => {
  const { line, ...rest } = call;
  const prepared = prepare(line);
  if ("refused" in prepared) return prepared;
  const { conf, program } = prepared;
  const identity = identityOf(line.name, "compat");
  const built = build({ conf, program, sparkVersion, identity, ...rest });
  if ("refused" in built) return built;
  const pod = { apiVersion: "v1", kind: "Pod", ...assembled(built.pod) };
  return { objects: [...built.first, pod, ...built.first, ...built.objects] };
};

const labelOf = (object: Json | undefined): string => {
  const metadata = isRecord(object?.["metadata"]) ? object["metadata"] : {};
  return object === undefined ? "nothing" : `${object["kind"]} ${metadata["name"]}`;
};

const compared = (input: Input, objects: readonly Json[], recorded: readonly Json[]): readonly Difference[] => {
  if (input.exitCode !== 0 && recorded.length === 0) {
    return [{ path: "refused", ours: "accepted", theirs: saidBy(input) }];
  }
  const driver = driverIn(recorded);
  const length = Math.max(objects.length, recorded.length);
  return Array.from({ length }).flatMap((_, at) => {
    const theirs = recorded[at];
    const label = labelOf(theirs ?? objects[at]);
    return differences(objects[at], theirs && ofDriver(theirs, driver), label);
  });
};

export const clientOutcome = (name: string, folder: string): Outcome => {
  const input = inputIn(join(folder, "input.json"));
  const result = clientObjects(callOf(input), input.sparkVersion);
  if ("refused" in result) return outcomeOf(name, "client", refusedAlike(input, result.refused));
  const objects = result.objects.map(normal);
  return outcomeOf(name, "client", compared(input, objects, madeIn(join(folder, "normalized.json"))));
};
