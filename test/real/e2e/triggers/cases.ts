/** The cases of external triggers, on one fixture: the doors (HTTP triggers) and the notices. */
import type { Family } from "../family.ts";
import { doors } from "./doors.ts";
import { type Fixture, openFixture } from "./fixture.ts";
import { leaves } from "./leaving.ts";

export const triggerCases = (): ReturnType<Family["cases"]> => {
  const { promise, resolve } = Promise.withResolvers<Fixture>();
  return {
    cases: [doors(promise), leaves(promise)],
    skipped: 0,
    around: async (scene, work) => {
      const fixture = await openFixture(scene);
      resolve(fixture);
      try {
        return await work();
      } finally {
        await fixture.stop();
      }
    },
  };
};
