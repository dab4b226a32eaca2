/** Scenarios from cases that `rekindle replay --export` has written: an application, its users, and the ends of its pods. */
import { readFileSync } from "node:fs";
import * as z from "zod";
import type { DriverScript } from "../../../shared/simulator/nodes/script.ts";
import { textAt } from "./fields.ts";
import { account } from "./fixture.ts";
import { appName, namespace, type Scenario, type UserAction } from "./scenario.ts";

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const shape = z.object({
  version: z.literal(1),
  kind: z.literal("SparkApplication"),
  of: z.string(),
  spec: z.record(z.string(), z.unknown()),
  annotations: z.record(z.string(), z.string()),
  drivers: z.array(z.custom<DriverScript>(isObject)).min(1),
  actions: z.array(
    z.object({
      afterMs: z.number(),
      patch: z.record(z.string(), z.unknown()).optional(),
      delete: z.literal(true).optional(),
    }),
  ),
  ends: z.string().optional(),
});

const prefix = "recorded:";

/** The name of the scenario of a file, also in other threads. */
export const recordedName = (file: string): string => `${prefix}${encodeURIComponent(file)}`;

const isApplied: UserAction["when"] = ({ type, object }) =>
  type === "ADDED" && object.kind === "SparkApplication" && object.metadata.name === appName;

const actionOf = ({ afterMs, patch }: z.infer<typeof shape>["actions"][number]): UserAction =>
  patch === undefined
    ? { says: "kubectl delete", when: isApplied, afterMs, do: { type: "delete" } }
    : { says: "kubectl apply of a recorded spec", when: isApplied, afterMs, do: { type: "patch", spec: patch } };

/** The driver's service account, where it is not the one that every fixture has. */
const accountsFor = (spec: unknown): NonNullable<Scenario["stands"]> => {
  const [path, body] = account;
  const name = textAt(spec, "driver", "serviceAccount") ?? body.metadata.name;
  return name === body.metadata.name ? [] : [[path, { ...body, metadata: { name, namespace } }]];
};

/** The end that follows from the case where its recording ends earlier. */
const endOf = ({ ends, actions, drivers }: z.infer<typeof shape>): string => {
  if (actions.some((action) => action.delete === true)) return "gone";
  const last = drivers.at(-1);
  return ends ?? (last?.exitCode === undefined ? "COMPLETED" : "FAILED");
};

/** The scenario of a name; undefined for a name that is not of a file. */
export const recordedScenario = (name: string): Scenario | undefined => {
  if (!name.startsWith(prefix)) return undefined;
  const file = decodeURIComponent(name.slice(prefix.length));
  const given = shape.parse(JSON.parse(readFileSync(file, "utf8")));
  return {
    ...{ name, what: `${given.of}, as recorded`, spec: given.spec, annotations: given.annotations },
    scripts: { [appName]: given.drivers },
    userActions: given.actions.map(actionOf),
    stands: accountsFor(given.spec),
    ends: endOf(given),
    breadth: "whole",
  };
};
