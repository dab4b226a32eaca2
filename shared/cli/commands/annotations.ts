/** `rekindle annotations`: every timeout and policy that an application or a Volcano job may ask for, with its default and range. */
import { Command } from "commander";
import { asJson, asYaml } from "../io/output.ts";
import { columns } from "../io/text.ts";
import type { Tools } from "../io/tools.ts";
import { outputOption } from "./options.ts";

const heads = ["KIND", "ANNOTATION", "DEFAULT", "RANGE", "MEANING"] as const;

export const annotations = (tools: Tools): Command =>
  new Command("annotations")
    .addOption(outputOption("table", "json", "yaml"))
    .action(async ({ output }: { output: string }) => {
      const rows = await tools.policies();
      if (output === "json") return tools.print(asJson(rows));
      if (output === "yaml") return tools.print(asYaml(rows));
      const cells = rows.map(({ kind, annotation, default: normally, range, meaning }) => [
        kind,
        annotation,
        normally,
        range,
        meaning,
      ]);
      tools.print(columns([heads, ...cells]));
    });
