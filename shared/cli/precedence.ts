/** Options before the command: this module moves them behind it, where the command's own options are parsed. */
import type { Command } from "commander";

/** Options of most commands that people write before the command, as kubectl takes them; each has a value. */
const wanderers = ["-k", "--kubeconfig", "--context", "-n", "--namespace", "-o", "--output", "-s", "--server"];

/** Counts the words at the beginning that are such options and their values. */
const leading = (args: readonly string[]): number => {
  const [first = ""] = args;
  if (wanderers.includes(first) && args.length > 1) return 2 + leading(args.slice(2));
  const isJoined = wanderers.some((one) => first.startsWith(one.startsWith("--") ? `${one}=` : one));
  return isJoined ? 1 + leading(args.slice(1)) : 0;
};

/** Moves options before the command behind its name, and behind the name of its subcommand. */
export const settled = (program: Command, args: readonly string[]): readonly string[] => {
  const count = leading(args);
  const rest = args.slice(count);
  let words = 0;
  const below = ({ commands }: Command, word: string): Command | undefined =>
    commands.find((one) => one.name() === word || one.aliases().includes(word));
  for (let at = below(program, rest[0] ?? ""); at !== undefined; at = below(at, rest[words] ?? "")) words += 1;
  return words === 0 ? args : [...rest.slice(0, words), ...args.slice(0, count), ...rest.slice(words)];
};

/** The command line from its command on. */
export const commandWords = (args: readonly string[]): readonly string[] => args.slice(leading(args));
