/** Ensures that parts of the set-up are installed; every command that needs real parts calls it first. */
import { join } from "node:path";
import { alone } from "./lock.ts";
import { cacheDir, type Part, type Say } from "./part.ts";
import { parts } from "./parts.ts";

export type Outcome = { readonly part: string; readonly ok: boolean; readonly ms: number; readonly message: string };

/** Thrown for a word that names no part. */
export class UnknownPart extends Error {
  override readonly name = "UnknownPart";
}

const partOf = (name: string): Part => {
  const part = parts.find((one) => one.name === name);
  if (part === undefined)
    throw new UnknownPart(`there is no part ${name}; there are: ${parts.map((one) => one.name).join(", ")}`);
  return part;
};

/** Returns the named parts and all their prerequisites, each once. */
const withNeeds = (names: readonly string[]): readonly Part[] => {
  const found = new Map<string, Part>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    const part = partOf(name);
    for (const need of part.needs) visit(need);
    found.set(name, part);
  };
  for (const name of names) visit(name);
  return [...found.values()];
};

const installed = async (part: Part, say: Say): Promise<Outcome> => {
  const began = Date.now();
  const ended = (ok: boolean, message: string): Outcome => ({ part: part.name, ok, ms: Date.now() - began, message });
  if (await part.isReady()) return ended(true, "ready");
  try {
    say(`${part.why} (${part.sizeHint})`);
    await alone(join(cacheDir(), "locks", part.name), async () => {
      if (!(await part.isReady())) await part.install(say);
    });
    return (await part.isReady()) ? ended(true, "installed") : ended(false, "installed, and still not ready");
  } catch (error) {
    return ended(false, error instanceof Error ? error.message : String(error));
  }
};

/** Installs missing parts; independent parts in parallel. Prerequisites come first in the outcomes. */
export const prepare = (names: readonly string[], say: (part: string, line: string) => void): Promise<Outcome[]> => {
  const wanted = withNeeds(names);
  const running = new Map<string, Promise<Outcome>>();
  for (const part of wanted) {
    const first = part.needs.flatMap((need) => running.get(need) ?? []);
    const outcome = Promise.all(first).then((needs): Promise<Outcome> | Outcome => {
      const broken = needs.find((need) => !need.ok);
      if (broken !== undefined) return { part: part.name, ok: false, ms: 0, message: `needs ${broken.part}` };
      return installed(part, (line) => say(part.name, line));
    });
    running.set(part.name, outcome);
  }
  return Promise.all(running.values());
};

/** Does the same for other commands: silent if everything is installed, and one clear error otherwise. */
export const ensure = async (names: readonly string[]): Promise<void> => {
  const outcomes = await prepare(names, (part, line) => process.stderr.write(`setup ${part}: ${line}\n`));
  const broken = outcomes.filter((outcome) => !outcome.ok);
  if (broken.length > 0)
    throw new Error(
      `set-up is not complete:\n${broken.map(({ part, message }) => `  ${part}: ${message}`).join("\n")}`,
    );
};
