/** The `rekindle` command. */
import { run } from "../shared/cli/program.ts";
import { openTools } from "../shared/deployments/cli/tools.ts";

const root = new URL("../", import.meta.url);

const tools = await openTools({
  root,
  env: process.env,
  host: async (args) => (await import("./host.ts")).host(args),
  demo: async (args) => (await import("../shared/deployments/demo/start.ts")).demoHere(args, root),
});

process.exitCode = await run(tools, process.argv.slice(2));
