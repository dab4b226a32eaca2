/**
 * POST /api/v1/spark-submit → a driver pod, for a kubeflow operator with its RestSubmitter. Run by itself, it listens.
 */
import { handle, type LambdaEvent } from "hono/aws-lambda";
import { once } from "../shared/deployments/common/once.ts";
import { openSubmitter, submitterApp } from "../shared/deployments/submitter/function.ts";

const wiring = once(async () => handle(submitterApp(openSubmitter(process.env))));

/**
 * The Lambda handler of an HTTP API or a function URL. The cloud authorizes its callers; the function checks no proof.
 */
export const handler = async (event: LambdaEvent) => (await wiring())(event);

if (import.meta.main) {
  const { serveUntil } = await import("../shared/deployments/http/process.ts");
  const { stopped } = await import("../shared/deployments/http/server.ts");
  const { largest, mayListen } = await import("../shared/deployments/submitter/function.ts");
  const { settingsFor } = await import("../shared/deployments/settings/read.ts");
  const settings = settingsFor("submitter", process.env);
  mayListen(settings);
  await serveUntil(settings, submitterApp(openSubmitter(process.env)), stopped(), largest);
}
