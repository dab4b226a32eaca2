/** Takes each decision of a life again from its recording, as JSON, and collects the differences. */
import { textOf } from "../../../shared/core/key.ts";
import type { DecisionRecording } from "../../../shared/engine/cluster/queries.ts";
import { replay } from "../../../shared/engine/cluster/replay.ts";
import { take } from "../../../shared/engine/reconcile/intake.ts";
import type { Takes } from "../sweep/fixture.ts";

export type Replaying = {
  readonly takes: Takes;
  /** The decisions that were taken again. */
  readonly replayed: () => number;
  readonly differences: readonly string[];
};

export const openReplaying = (): Replaying => {
  const differences: string[] = [];
  let replayed = 0;
  const takes: Takes = (world, messages) => {
    const keep = async (recording: DecisionRecording | undefined): Promise<void> => {
      if (recording === undefined) return;
      const operator = world.operatorOf(recording.key.kind);
      if (operator === undefined) return;
      replayed += 1;
      const difference = replay(operator, JSON.parse(JSON.stringify(recording)));
      if (difference !== undefined)
        differences.push(`replay: ${textOf(recording.key)} decided otherwise: ${JSON.stringify(difference)}`);
    };
    return take({ ...world, recording: () => keep }, messages);
  };
  return { takes, replayed: () => replayed, differences };
};
