/** The `rekindle` command. */
import { run } from "../shared/cli/program.ts";
import { openTools } from "../shared/wiring/cli.ts";

const tools = await openTools({
  root: new URL("../", import.meta.url),
  env: process.env,
  host: async (args) => (await import("./host.ts")).host(args),
  demo: async () => {
    throw new Error("the demo is not part of this version");
  },
});

process.exitCode = await run(tools, process.argv.slice(2));
