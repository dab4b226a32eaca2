/** A dry run's words: what each step would do, told once and again when it would do something else. */
import { type Key, textOf } from "../core/key.ts";
import { refText } from "../core/object.ts";
import type { Effect, Plan } from "../core/plan.ts";

const acted = (effect: Effect): string => {
  switch (effect.do) {
    case "record":
      return `event ${effect.reason}: ${effect.message}`;
    case "create":
      return `create ${effect.resource.plural} ${effect.object.metadata.name}`;
    case "delete":
      return `delete ${refText(effect.ref)} (uid ${effect.uid})`;
    case "patch":
      return `change ${refText(effect.ref)}: ${JSON.stringify(effect.patch)}`;
  }
};

/** One line: what the step would do. */
const shadowLine = ({ kind, namespace, name }: Key, { stages, status, waitsFor, forget }: Plan<unknown>): string =>
  JSON.stringify({
    would: `${kind} ${namespace}/${name}`,
    effects: stages.flat().map(acted),
    status,
    ...(forget === true ? { checkpoint: "removed" } : {}),
    waitsFor,
  });

/** A plan that is made again is later by the clock, and else the same. */
const withoutTimes = (line: string): string => line.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "");

export const tellPlans = (print: (line: string) => void): ((key: Key, plan: Plan<unknown>) => void) => {
  const told = new Map<string, string>();
  return (key, plan) => {
    const line = shadowLine(key, plan);
    const gist = withoutTimes(line);
    if (told.get(textOf(key)) === gist) return;
    told.set(textOf(key), gist);
    print(line);
  };
};
