/** The effect of a container's command line on its pod, where commands are read: `sleep`, `exit` and `echo`. */
import { itemsAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import type { PodScript } from "./script.ts";

const seconds: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 };

const unquoted = (text: string): string => text.replaceAll(/^["']|["']$/g, "");

/** The commands of a shell's line in their order; operators between them are not interpreted. */
const stepsIn = (line: string): readonly string[] =>
  line
    .split(/;|&&|\|\||\n/)
    .map((step) => step.trim())
    .filter((step) => step !== "");

const isText = (value: unknown): value is string => typeof value === "string";

/** The line that the pod's first container runs; undefined when the image decides. */
const lineOf = (pod: Item): string | undefined => {
  const [container] = itemsAt(pod, "spec", "containers");
  const words = [...itemsAt(container, "command"), ...itemsAt(container, "args")].filter(isText);
  const [shell = "", flag = "", line] = words;
  if (words.length === 0) return undefined;
  return /(^|\/)(ba|da|a)?sh$/.test(shell) && /^-\w*c$/.test(flag) ? (line ?? "") : words.join(" ");
};

/** Duration, exit code and output of a pod's command; undefined without one. Every other program takes no time. */
export const commandScript = (pod: Item): PodScript | undefined => {
  const line = lineOf(pod);
  if (line === undefined) return undefined;
  let runMs = 0;
  const lines: string[] = [];
  for (const step of stepsIn(line)) {
    const [, amount = "", unit = ""] = /^sleep\s+(\d+(?:\.\d+)?)([smhd]?)$/.exec(step) ?? [];
    const code = /^exit\s+(\d+)$/.exec(step)?.[1];
    if (/^sleep\s+inf/.test(step)) return { log: lines.join("\n") };
    if (amount !== "") runMs += Number(amount) * (seconds[unit] ?? 1) * 1_000;
    else if (code !== undefined) return { runMs, exitCode: Number(code), log: lines.join("\n") };
    else if (step.startsWith("echo ")) lines.push(unquoted(step.slice(5).trim()));
  }
  return { runMs, log: lines.join("\n") };
};
