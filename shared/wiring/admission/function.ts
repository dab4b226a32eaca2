/**
 * The wiring of the admission function: nothing to connect to, unless quotas are to be kept or labels choose namespaces;
 * Volcano's queues are looked at where quotas are.
 */
import { lineReport } from "../../adapters/telemetry/lines.ts";
import { selectorOf } from "../../kube/selector.ts";
import { type Environment, functionSettings } from "../function.ts";
import { admissionApp } from "./app.ts";

export const openAdmissionApp = async (env: Environment): Promise<ReturnType<typeof admissionApp>> => {
  const { quota, selector, ...chosen } = functionSettings(env, "quota", "selector", "namespaces", "namespaceSelector");
  const selects = selectorOf(selector);
  if (!quota && chosen.namespaceSelector === "") return admissionApp({ selects });
  const { endpoint } = functionSettings(env, "endpoint");
  const { openAccess } = await import("../access.ts");
  const { quotasOf } = await import("./quotas.ts");
  const { surroundingsOf } = await import("./surroundings.ts");
  const transport = openAccess(endpoint, { userAgent: "rekindle-admission" });
  const { openTerritory } = await import("../territory.ts");
  const { within } = openTerritory({ ...chosen, transport, report: lineReport("info"), now: Date.now });
  const asked = quota ? { quotas: quotasOf(transport, Date.now), around: surroundingsOf(transport, Date.now) } : {};
  return admissionApp({ ...asked, selects, within });
};
