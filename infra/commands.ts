/** The reference page of the command line: every command with its arguments, options and examples, from the commands themselves. */
import type { Command } from "commander";
import { examples, withExamples } from "../shared/cli/examples.ts";
import type { Tools } from "../shared/cli/io/tools.ts";
import { rows } from "../shared/cli/program.ts";
import { openTools } from "../shared/deployments/cli/tools.ts";
import { markdown } from "./reference.ts";

const openAll = async (tools: Tools): Promise<readonly Command[]> => {
  const commands = await Promise.all(
    rows.map(async (row) => (await row.open(async () => []))(tools).summary(row.summary)),
  );
  return commands.map((command) => withExamples(command));
};

const code = (text: string): string => `\`${text}\``;

const section = (command: Command, above: readonly string[]): readonly string[] => {
  const words = [...above, command.name()];
  const help = command.createHelp();
  const entries = [
    ...help
      .visibleArguments(command)
      .map((argument) => [code(help.argumentTerm(argument)), help.argumentDescription(argument)]),
    ...help
      .visibleOptions(command)
      .filter((option) => option.long !== "--help")
      .map((option) => [code(help.optionTerm(option)), help.optionDescription(option)]),
  ];
  const lines = examples[words.join(" ")] ?? [];
  const isGroup = command.commands.length > 0;
  return [
    `${"#".repeat(words.length + 1)} rekindle ${words.join(" ")}`,
    "",
    command.description(),
    ...(isGroup ? [] : ["", code(`rekindle ${help.commandUsage(command)}`)]),
    ...(entries.length === 0 || isGroup ? [] : ["", markdown(["argument or option", "meaning"], entries)]),
    ...(lines.length === 0 || isGroup ? [] : ["", "```text", ...lines.map((line) => `rekindle ${line}`), "```"]),
    "",
    ...command.commands.flatMap((one) => section(one, words)),
  ];
};

/** The pages of all commands, each with the pages of its subcommands after it. */
export const commandPages = async (): Promise<string> => {
  const nothing = async (): Promise<number> => 0;
  const tools = await openTools({ root: new URL("../", import.meta.url), env: {}, host: nothing, demo: nothing });
  return (await openAll(tools))
    .flatMap((command) => section(command, []))
    .join("\n")
    .trimEnd();
};
