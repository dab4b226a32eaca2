/** Completion scripts of three shells from one description of the command line. */

export type Opt = {
  readonly long: string;
  readonly short: string | undefined;
  readonly says: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
};

export type Described = {
  readonly name: string;
  readonly says: string;
  readonly options: readonly Opt[];
  /** Its arguments are names of applications. */
  readonly takesNames: boolean;
};

const flagsOf = ({ long, short }: Opt): readonly string[] => (short === undefined ? [long] : [short, long]);

const bashCommand = ({ name, options, takesNames }: Described): string => {
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
    ...(takesNames ? ['             *) words="$(rekindle list -o key 2>/dev/null)" ;;'] : []),
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

const fishCommand = ({ name, says, options, takesNames }: Described): readonly string[] => {
  const within = `complete -c rekindle -n '__fish_seen_subcommand_from ${name}'`;
  const lines = options.map(({ long, short, says: meaning, takesValue, choices }) =>
    [
      `${within} -l ${long.replace(/^--/, "")}`,
      ...(short === undefined ? [] : [`-s ${short.replace(/^-/, "")}`]),
      ...(takesValue ? ["-r"] : []),
      ...(choices.length === 0 ? [] : [`-f -a ${quoted(choices.join(" "))}`]),
      `-d ${quoted(meaning)}`,
    ].join(" "),
  );
  const names = takesNames ? [`${within} -f -a '(rekindle list -o key 2>/dev/null)'`] : [];
  return [`complete -c rekindle -n __fish_use_subcommand -f -a ${name} -d ${quoted(says)}`, ...lines, ...names];
};

const fish = (commands: readonly Described[]): string => commands.flatMap(fishCommand).join("\n");

/** Shell → its script. */
export const scripts: Readonly<Record<string, (commands: readonly Described[]) => string>> = { bash, zsh, fish };
