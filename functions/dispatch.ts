/** Watches → calls of functions over HTTP, with the queue inside: a process, of which one is active by its lease. */
if (import.meta.main) {
  const { dispatchUntil } = await import("../shared/deployments/dispatch/process.ts");
  const { stopped } = await import("../shared/deployments/http/server.ts");
  await dispatchUntil(process.env, stopped());
}

export {};
