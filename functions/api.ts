/** The HTTP API: health, triggers and events that request steps, and reads. Run by itself, it listens. */
import { handle, type LambdaEvent } from "hono/aws-lambda";
import { apiApp } from "../shared/deployments/api/app.ts";
import { openApi, takeBridged } from "../shared/deployments/api/function.ts";
import { once } from "../shared/deployments/common/once.ts";

export { apiApp } from "../shared/deployments/api/app.ts";

const wiring = once(async () => {
  const parts = openApi(process.env);
  return { parts, answer: handle(apiApp(parts)) };
});

/** The Lambda handler of an HTTP API or a function URL, and of EventBridge, which invokes it directly. */
export const handler = async (event: LambdaEvent) => {
  const { parts, answer } = await wiring();
  return (await takeBridged(parts, event)) ?? (await answer(event));
};

if (import.meta.main) {
  const { serveUntil } = await import("../shared/deployments/http/process.ts");
  const { stopped } = await import("../shared/deployments/http/server.ts");
  const { settingsFor } = await import("../shared/deployments/settings/read.ts");
  const { close, ...parts } = openApi(process.env);
  await serveUntil(settingsFor("api", process.env), apiApp(parts), stopped());
  await close();
}
