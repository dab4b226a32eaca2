/** The wiring of the admission function: nothing to connect to, unless quotas are to be kept. */
import { type Environment, functionSettings } from "../function.ts";
import { admissionApp } from "./app.ts";

export const openAdmissionApp = async (env: Environment): Promise<ReturnType<typeof admissionApp>> => {
  const { quota } = functionSettings(env, "quota");
  if (!quota) return admissionApp();
  const { endpoint } = functionSettings(env, "endpoint");
  const { httpsTransport } = await import("../../adapters/kubernetes/https.ts");
  const { quotasOf } = await import("./quotas.ts");
  return admissionApp(quotasOf(httpsTransport({ ...endpoint, userAgent: "rekindle-admission" })));
};
