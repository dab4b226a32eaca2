/** The wiring of the admission function: nothing to connect to, unless quotas are to be kept. */
import { selectorOf } from "../../kube/selector.ts";
import { type Environment, functionSettings } from "../function.ts";
import { admissionApp } from "./app.ts";

export const openAdmissionApp = async (env: Environment): Promise<ReturnType<typeof admissionApp>> => {
  const { quota, selector } = functionSettings(env, "quota", "selector");
  const selects = selectorOf(selector);
  if (!quota) return admissionApp({ selects });
  const { endpoint } = functionSettings(env, "endpoint");
  const { httpsTransport } = await import("../../adapters/kubernetes/https.ts");
  const { quotasOf } = await import("./quotas.ts");
  const transport = httpsTransport({ ...endpoint, userAgent: "rekindle-admission" });
  return admissionApp({ quotas: quotasOf(transport, Date.now), selects });
};
