/** `rekindle completion` as people type it. */
import { Argument, Command } from "commander";
import { type Described, scripts } from "../completion/scripts.ts";
import type { Tools } from "../tools.ts";

const described = (command: Command): Described => ({
  name: command.name(),
  says: command.summary(),
  options: command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description, required, argChoices = [] }) => ({
      ...{ long: long ?? "", short, says: description, takesValue: required, choices: argChoices },
    })),
  takesNames: command.registeredArguments.some((argument) => argument.name().startsWith("application")),
});

const description = `Prints what a shell needs to complete commands, options and names:

  bash  source <(rekindle completion bash)
  zsh   source <(rekindle completion zsh)
  fish  rekindle completion fish | source`;

/** `all` opens every command, to know its options. */
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
