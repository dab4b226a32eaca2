/** The storm of a lane: processes are killed at random moments, and started again as their Deployments would. */
import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../lambda/random.ts";

/** It blows from the beginning. */
export type Storm = { blows: boolean };

/**
 * The most kills of a storm that lasts as long as its applications: on a slow machine a key could be unlucky with each of its
 * calls, and would never get through.
 */
const mostKills = 160;

/** Ends a storm when it has killed so often, and `isEnough` holds. `least`: so many kills are wanted. */
export const calmed = async (
  storm: Storm,
  kills: () => number,
  { least = 0, isEnough = () => true }: { readonly least?: number; readonly isEnough?: () => boolean } = {},
): Promise<void> => {
  for (const most = Math.max(mostKills, 2 * least); storm.blows; await sleep(500))
    if (kills() >= most && isEnough()) storm.blows = false;
};

/** A process that is always up, and is killed in the storm, at least so many times. */
export type Daemon = {
  readonly name: string;
  readonly kills: () => number;
  readonly least: number;
  readonly stop: () => Promise<void>;
};

/** The time between two kills. */
export type Lives = { readonly leastMs: number; readonly mostMs: number };

type Struck = {
  readonly name: string;
  readonly least: number;
  /** Absent: without end. */
  readonly most?: number;
  readonly lives: Lives;
  readonly random: Random;
  readonly storm: Storm;
};

/** Kills again and again until `stop`; `kill` resolves when the process is there again, or will be. */
export const strike = (
  { name, least, most = Number.POSITIVE_INFINITY, lives: { leastMs, mostMs }, random, storm }: Struck,
  { kill, end }: { readonly kill: () => Promise<void>; readonly end: () => Promise<void> },
): Daemon => {
  let kills = 0;
  let isOver = false;
  const killing = async (): Promise<void> => {
    while (!isOver) {
      for (const until = performance.now() + leastMs + random() * (mostMs - leastMs); performance.now() < until; )
        if (isOver) return;
        else await sleep(200);
      if (!storm.blows || kills >= most) continue;
      kills += 1;
      await kill();
    }
  };
  const loop = killing();
  return {
    name,
    least,
    kills: () => kills,
    stop: async () => {
      isOver = true;
      await loop;
      await end();
    },
  };
};

/** The time until a kubelet starts a container again, ms. */
export const againMs = 200;

const killed = async (child: ChildProcess): Promise<void> => void child.kill("SIGKILL");

/** Keeps a process up, as a Deployment does: it is started again when it has ended. `end`: its end in the storm. */
export const keepUp = (begin: () => ChildProcess, struck: Struck, end = killed): Daemon => {
  let isOver = false;
  let child = begin();
  const restarting = async (): Promise<void> => {
    while (!isOver) {
      await new Promise((resolve) => child.once("exit", resolve));
      if (isOver) return;
      await sleep(againMs);
      child = begin();
    }
  };
  const loop = restarting();
  return strike(struck, {
    kill: () => end(child),
    end: async () => {
      isOver = true;
      child.kill("SIGKILL");
      await loop;
    },
  });
};
