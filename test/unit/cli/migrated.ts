/** Clusters to migrate, and the results of a migration as short lists. */
import * as z from "zod";
import type { Obj } from "../../../shared/core/object.ts";
import { install } from "./kubeflow.ts";
import { application, make, openTerminal, type Terminal } from "./terminal.ts";
import { pictureOf } from "./upstreams.ts";

export const spark = (name: string, more: object = {}, state?: Readonly<Record<string, unknown>>): Obj => {
  const one = application(name, state);
  const spec = { image: "spark:4.1.1", mainClass: "Main", ...Object(one["spec"]), ...more };
  return { ...one, spec };
};

export const opened = async (...objects: readonly Obj[]): Promise<Terminal> => {
  const terminal = openTerminal();
  await make(terminal.simulator, ...objects);
  await install(terminal.simulator);
  return terminal;
};

export const running = { applicationState: { state: "RUNNING" }, submissionID: "s-1", executionAttempts: 1 };

const picture = z.object({
  deployments: z.array(z.object({ name: z.string(), spec: z.looseObject({ replicas: z.number() }) })),
  mutating: z.array(z.object({ name: z.string() })),
  validating: z.array(z.object({ name: z.string() })),
  records: z.array(z.object({ name: z.string() })),
});

export const gist = ({ simulator }: Terminal): readonly unknown[] => {
  const { deployments, mutating, validating, records } = picture.parse(pictureOf(simulator));
  return [
    deployments.map(({ name, spec }) => `${name} ${spec.replicas}`),
    [...mutating, ...validating].map(({ name }) => name),
    records.map(({ name }) => name),
  ];
};

export const untouched = [
  ["spark-operator-controller 2", "spark-operator-webhook 1"],
  ["kueue", "spark-operator-webhook", "spark-operator-webhook"],
  [],
];
export const left = [["spark-operator-controller 0", "spark-operator-webhook 0"], ["kueue"], ["rekindle-migration"]];
