/**
 * The Events of an object of `spark.apache.org`: one for each state, with the state's name as its reason. A state is reported
 * until the status shows it, which is written after its Event: a death in between loses none, however short the state was.
 */
import { fieldsOf } from "../../../core/json.ts";
import type { Resource, Stored } from "../../../core/object.ts";
import { type Effect, notYetRecorded, type View } from "../../../core/plan.ts";

type Entry = { readonly number: number; readonly summary: string; readonly message?: string };

/** The highest number of a state that the status shows; -1: it shows none. */
const shownNumber = ({ status }: Stored): number =>
  Object.keys(fieldsOf(fieldsOf(status)["stateTransitionHistory"])).reduce(
    (most, key) => Math.max(most, Number(key)),
    -1,
  );

type Reported = {
  readonly resource: Resource;
  readonly entries: readonly Entry[];
  /** True for a state that its user should look at. */
  readonly warns: (summary: string) => boolean;
};

/** The Events that may not be recorded yet. Their names are deterministic: a repeat creates none. */
export const stateEvents = (
  view: Pick<View<unknown>, "done">,
  about: Stored,
  { resource, entries, warns }: Reported,
): readonly Effect[] => {
  const shown = shownNumber(about);
  return notYetRecorded(
    view,
    entries
      .filter(({ number }) => number > shown)
      .map(({ number, summary, message = summary }) => ({
        ...({ do: "record", about, resource, occasion: `${number}`, reason: summary, message } as const),
        type: warns(summary) ? "Warning" : "Normal",
      })),
  );
};
