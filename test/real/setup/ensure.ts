/** Ensures that parts of the set-up are installed; every command that needs real parts calls it first. */
import { join } from "node:path";
import { alone } from "./lock.ts";
import { cacheDir, type Part, type Programs, type Say } from "./part.ts";
import { parts } from "./parts.ts";
import { installPrograms, lackOf, mayInstall } from "./programs.ts";

type Telling = (part: string, line: string) => void;

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

/** The programs that parts which are not ready call. */
const programsOf = async (wanted: readonly Part[]): Promise<Programs> => {
  const ready = await Promise.all(wanted.map((part) => part.isReady()));
  return Object.assign({}, ...wanted.filter((_, at) => ready[at] !== true).map(({ programs = {} }) => programs));
};

/** The outcomes where programs are missing: nothing is begun, and the first names all of them. */
const notBegun = (wanted: readonly Part[], lack: string): Promise<Outcome[]> =>
  Promise.all(
    wanted.map(async (part) => {
      const ok = await part.isReady();
      const own = lackOf(part.programs ?? {});
      const message = own === undefined ? "not begun: other parts lack programs" : lack;
      return { part: part.name, ok, ms: 0, message: ok ? "ready" : message };
    }),
  );

/**
 * Installs missing parts; independent parts in parallel. Prerequisites come first in the outcomes. Programs that are
 * missing are found before anything is downloaded or compiled.
 */
export const prepareAll = async (
  wanted: readonly Part[],
  say: Telling,
  isAllowed = mayInstall(),
): Promise<Outcome[]> => {
  const programs = await programsOf(wanted);
  if (isAllowed) await installPrograms(programs, (line) => say("programs", line));
  const lack = lackOf(programs);
  if (lack !== undefined) return await notBegun(wanted, lack);
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
  return await Promise.all(running.values());
};

/** Does it for parts by their names, and for those that they need. */
export const prepare = (names: readonly string[], say: Telling): Promise<Outcome[]> =>
  prepareAll(withNeeds(names), say);

/** Does the same for other commands: silent if everything is installed, and one clear error otherwise. */
export const ensure = async (names: readonly string[]): Promise<void> => {
  const outcomes = await prepare(names, (part, line) => process.stderr.write(`setup ${part}: ${line}\n`));
  const broken = outcomes.filter((outcome) => !outcome.ok);
  if (broken.length > 0)
    throw new Error(
      `set-up is not complete:\n${broken.map(({ part, message }) => `  ${part}: ${message}`).join("\n")}`,
    );
};
