/** `rekindle completion`: completion scripts of three shells from one description of the command line. */
import { Argument, Command } from "commander";
import type { Tools } from "../io/tools.ts";

export type CompletionOption = {
  readonly long: string;
  readonly short: string | undefined;
  readonly says: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
};

type Described = {
  readonly name: string;
  readonly says: string;
  readonly options: readonly CompletionOption[];
  /** The command that prints the values of its arguments; undefined: there is none. */
  readonly names: string | undefined;
  /** Its subcommands; most commands have none. */
  readonly commands: readonly Described[];
};

const flagsOf = ({ long, short }: CompletionOption): readonly string[] =>
  short === undefined ? [long] : [short, long];

const indented = (lines: string): string => lines.replaceAll(/^/gm, "    ");

/** Completes a command with subcommands: the second word names one, and the words after it belong to that one. */
const bashGroup = ({ name, commands }: Described): string =>
  [
    `    ${name})`,
    '      if [ "$COMP_CWORD" -eq 2 ]; then',
    `        words="${commands.map((one) => one.name).join(" ")}"`,
    "      else",
    `        case "\${COMP_WORDS[2]}" in`,
    ...commands.map((one) => indented(bashCommand(one))),
    "        esac",
    "      fi ;;",
  ].join("\n");

const bashCommand = (command: Described): string => {
  const { name, options, names, commands } = command;
  if (commands.length > 0) return bashGroup(command);
  const chosen = options
    .filter(({ choices }) => choices.length > 0)
    .map((option) => `        ${flagsOf(option).join("|")}) words="${option.choices.join(" ")}" ;;`);
  const files = options
    .filter(({ long }) => /file|kubeconfig/.test(long))
    .flatMap(flagsOf)
    .join("|");
  return [
    `    ${name})`,
    '      case "$previous" in',
    ...chosen,
    ...(files === "" ? [] : [`        ${files}) COMPREPLY=($(compgen -f -- "$current")); return ;;`]),
    `        *) case "$current" in`,
    `             -*) words="${options.map(({ long }) => long).join(" ")}" ;;`,
    ...(names === undefined ? [] : [`             *) words="$(${names} 2>/dev/null)" ;;`]),
    "           esac ;;",
    "      esac ;;",
  ].join("\n");
};

const bash = (commands: readonly Described[]): string => `_rekindle() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map(bashCommand).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _rekindle rekindle`;

/** zsh runs bash's functions. */
const zsh = (commands: readonly Described[]): string => `#compdef rekindle
autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bash(commands)}`;

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const seen = (name: string): string => `__fish_seen_subcommand_from ${name}`;

/** `when` is the condition under which the command may be typed, `then` the one under which it has been typed. */
const fishCommand = ({ name, says, options, names, commands }: Described, when: string, then: string): string[] => {
  const within = `complete -c rekindle -n '${then}'`;
  const lines = options.map(({ long, short, says: meaning, takesValue, choices }) =>
    [
      `${within} -l ${long.replace(/^--/, "")}`,
      ...(short === undefined ? [] : [`-s ${short.replace(/^-/, "")}`]),
      ...(takesValue ? ["-r"] : []),
      ...(choices.length === 0 ? [] : [`-f -a ${quoted(choices.join(" "))}`]),
      `-d ${quoted(meaning)}`,
    ].join(" "),
  );
  const all = commands.map((one) => one.name).join(" ");
  return [
    `complete -c rekindle -n ${when} -f -a ${name} -d ${quoted(says)}`,
    ...lines,
    ...(names === undefined ? [] : [`${within} -f -a '(${names} 2>/dev/null)'`]),
    ...commands.flatMap((one) => fishCommand(one, `'${then}; and not ${seen(all)}'`, `${then}; and ${seen(one.name)}`)),
  ];
};

const fish = (commands: readonly Described[]): string =>
  commands.flatMap((one) => fishCommand(one, "__fish_use_subcommand", seen(one.name))).join("\n");

/** Shell → its script. */
const scripts: Readonly<Record<string, (commands: readonly Described[]) => string>> = { bash, zsh, fish };

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
