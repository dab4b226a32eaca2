/** Rekindle's view of an object before its submission: what it would refuse, and the objects that it would create. */
import type { Obj, Stored } from "../core/object.ts";

/** Rekindle's view of an object that it does not run, or not yet. */
export type Forecast = {
  /** The reason for which its next submission would be refused. */
  readonly refused: string | undefined;
  /** Fields of the object that Rekindle understands differently, and those without effect. */
  readonly notes: readonly string[];
};

export const noForecast: Forecast = { refused: undefined, notes: [] };

export type Rendered =
  | { readonly objects: readonly Obj[]; readonly notes: readonly string[] }
  | { readonly refused: string };

/** Attempt and UID of a rendered application, and the settings of the host. */
export type Rendering = { readonly attempt: number; readonly uid: string; readonly settings: readonly string[] };

/** The same with the options that the settings are read into. */
export type RenderedCase<Options> = Omit<Rendering, "settings"> & { readonly options: Options };

/** The views of a kind, without a cluster. An absent one says nothing. */
export type KindForecast<Options> = {
  /** The objects of one submission, in the order of their creation. */
  readonly rendered?: (object: Obj, of: RenderedCase<Options>) => Rendered;
  /** A new object: why it would be refused, and which of its fields have no effect. */
  readonly created?: (object: Obj, options: Options) => Forecast;
  /** An object that another controller runs: what changes with Rekindle. */
  readonly takenOver?: (object: Stored, options: Options) => Forecast;
};

/** The views of a kind whose objects are submitted: its notes are those of a submission. */
export const forecastBy = <Options>(
  rendered: (object: Obj, of: RenderedCase<Options>) => Rendered,
): KindForecast<Options> => {
  const created = (object: Obj, options: Options): Forecast => {
    const name = object.metadata.name ?? "generated";
    const made = rendered({ ...object, metadata: { ...object.metadata, name } }, { attempt: 1, uid: "u", options });
    return "refused" in made ? { refused: made.refused, notes: [] } : { refused: undefined, notes: made.notes };
  };
  return { rendered, created, takenOver: created };
};
