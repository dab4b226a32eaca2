/** The OpenAPI v3 schemas of a server: the types of fields, and the merge keys of lists. Descriptions are left out. */

import { at, fieldsAt, isFields, itemsAt, textAt } from "../../../shared/simulator/storage/json.ts";
import { testCase } from "../../support/test-case.ts";
import type { Scenario } from "./scenario.ts";

const asked: readonly (readonly [group: string, names: readonly string[]])[] = [
  ["api/v1", ["Pod", "PodSpec", "PodStatus", "Container", "EnvVar", "Volume", "Service", "ServiceSpec", "ConfigMap"]],
  ["api/v1", ["Secret", "Event", "Namespace", "ServiceAccount", "ResourceQuotaSpec", "ObjectMeta", "OwnerReference"]],
  ["apis/apps/v1", ["Deployment", "DeploymentSpec", "StatefulSetSpec"]],
  ["apis/batch/v1", ["Job", "JobSpec", "CronJobSpec"]],
  ["apis/coordination.k8s.io/v1", ["Lease", "LeaseSpec"]],
  ["apis/rbac.authorization.k8s.io/v1", ["Role", "PolicyRule", "RoleBinding", "RoleRef"]],
];

/** Returns the last part of a schema's name: the prefix differs between servers. */
const last = (name: string): string => name.split(/[./]/).at(-1) ?? "";

/** Schemas of a text or a number: only one of the two servers distinguishes quantities and ports by name. */
const either = new Set(["Quantity", "IntOrString"]);
/** Schemas of formatted texts. */
const texts = new Set(["Time", "MicroTime"]);

const refOf = (schema: unknown): string =>
  last(textAt(schema, "$ref") ?? textAt(itemsAt(schema, "allOf")[0], "$ref") ?? "");

/** Returns a field's type in a word: `[]Container by name`, `{}string`. */
const typeOf = (schema: unknown): string => {
  const ref = refOf(schema);
  if (either.has(ref) || at(schema, "oneOf") !== undefined) return "text or number";
  if (texts.has(ref)) return "string";
  if (ref === "FieldsV1") return "object";
  if (ref !== "") return ref;
  const type = textAt(schema, "type") ?? "anything";
  const of = at(schema, "additionalProperties");
  if (isFields(of)) return `{}${typeOf(of)}`;
  if (type !== "array") return type;
  const key = textAt(schema, "x-kubernetes-patch-merge-key");
  return `[]${typeOf(at(schema, "items"))}${key === undefined ? "" : ` by ${key}`}`;
};

export const schemas: readonly Scenario[] = [
  testCase("schemas", async ({ api, note }) => {
    for (const [group, names] of asked) {
      const { body } = await api.call("GET", `/openapi/v3/${group}`);
      const all = fieldsAt(body, "components", "schemas");
      for (const name of names) {
        const found = Object.keys(all).find((each) => last(each) === name) ?? "";
        const fields = Object.entries(fieldsAt(all, found, "properties"));
        note(`${group} ${name}`, fields.map(([field, schema]) => `${field} ${typeOf(schema)}`).sort());
      }
    }
  }),
];
