/** The cases of external triggers, on one stage: the doors (HTTP triggers) and the notices. */
import type { Family } from "../families.ts";
import { doors } from "./doors.ts";
import { leaves } from "./leaving.ts";
import { type Stage, setStage } from "./stage.ts";

export const triggerCases = (): ReturnType<Family["cases"]> => {
  const { promise, resolve } = Promise.withResolvers<Stage>();
  return {
    cases: [doors(promise), leaves(promise)],
    skipped: 0,
    around: async (scene, work) => {
      const stage = await setStage(scene);
      resolve(stage);
      try {
        return await work();
      } finally {
        await stage.stop();
      }
    },
  };
};
