/** A part of the set-up, and the helpers of all parts: the cache folder and running a command. */
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

export type Part = {
  readonly name: string;
  /** The purpose of the part: the commands that need it. */
  readonly why: string;
  /** The cost of the installation, for people: size and time. */
  readonly sizeHint: string;
  /** Parts that must be installed first. */
  readonly needs: readonly string[];
  /** Must be cheap: it is called on every run. */
  readonly isReady: () => Promise<boolean>;
  readonly install: (say: Say) => Promise<void>;
};

/** Prints one line of progress. */
export type Say = (line: string) => void;

/**
 * Returns the folder of everything that is built or downloaded, outside the repository. REKINDLE_CACHE overrides it.
 */
export const cacheDir = (): string => process.env["REKINDLE_CACHE"] ?? join(homedir(), ".cache", "rekindle");

type Options = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Receives the command's output as it is printed. */
  readonly hear?: (text: string) => void;
};

/** Runs a command to its end and returns its output; an error has the end of that output. */
export const command = (program: string, args: readonly string[], options: Options = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
    });
    let said = "";
    const hear = (chunk: Buffer): void => {
      const text = chunk.toString();
      said += text;
      options.hear?.(text);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", (cause) => reject(new Error(`${program} cannot be run: ${cause.message}`, { cause })));
    child.on("close", (code) => {
      if (code === 0) return resolve(said);
      const end = said.trim().split("\n").slice(-12).join("\n");
      reject(new Error(`${[program, ...args].slice(0, 4).join(" ")} ended with ${code}:\n${end}`));
    });
  });

/**
 * Fills a temporary folder and moves it to its place when it is complete, so that the cache has no incomplete folders.
 */
export const intoPlace = async (place: string, fill: (dir: string) => Promise<void>): Promise<void> => {
  await mkdir(dirname(place), { recursive: true });
  const dir = await mkdtemp(`${place}.part-`);
  try {
    await fill(dir);
    // Pods may run as another user.
    await chmod(dir, 0o755);
    await rm(place, { recursive: true, force: true });
    await rename(dir, place);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};
