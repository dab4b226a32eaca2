/** `rekindle completion` as people type it. */
import { Argument, Command } from "commander";
import { type Described, scripts } from "../completion/scripts.ts";
import type { Tools } from "../io/tools.ts";

/** The beginning of an argument's name, and the command that prints the values of such an argument. */
const sources: readonly (readonly [argument: string, source: string])[] = [
  ["application", "rekindle list -o key"],
  ["job", "rekindle job list -o key"],
  ["queue", "rekindle queue list -o key"],
];

const sourceOf = (command: Command): string | undefined => {
  const names = command.registeredArguments.map((argument) => argument.name());
  return sources.find(([beginning]) => names.some((name) => name.startsWith(beginning)))?.[1];
};

const described = (command: Command): Described => ({
  name: command.name(),
  says: command.summary(),
  options: command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description, required, argChoices = [] }) => ({
      ...{ long: long ?? "", short, says: description, takesValue: required, choices: argChoices },
    })),
  names: sourceOf(command),
  commands: command.commands.map(described),
});

const description = `Prints what a shell needs to complete commands, options and names:

  bash  source <(rekindle completion bash)
  zsh   source <(rekindle completion zsh)
  fish  rekindle completion fish | source`;

/** `all` opens every command: the scripts list their options. */
export const completion =
  (all: () => Promise<readonly Command[]>) =>
  (tools: Tools): Command =>
    new Command("completion")
      .description(description)
      .addArgument(new Argument("<shell>").choices(Object.keys(scripts)))
      .action(async (shell: string) => {
        const commands = (await all()).map(described);
        tools.print(scripts[shell]?.(commands) ?? "");
      });
