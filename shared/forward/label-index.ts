/**
 * Watched objects by the value of a label: a step reads the pods of one Job among those of all. A label is indexed from
 * the first request for it on; code names the labels, so they are few.
 */
import type { Stored } from "../core/object.ts";

type ByPlace = Map<string, Stored>;

/** Objects by place, by the value of the label. */
type ByValue = Map<string, ByPlace>;

export type LabelIndex = {
  put(place: string, object: Stored): void;
  drop(place: string, object: Stored): void;
  /** Returns the objects whose label has this value. */
  find(label: string, value: string): Iterable<Stored>;
};

const enter = (values: ByValue, label: string, place: string, object: Stored): void => {
  const value = object.metadata.labels?.[label];
  if (value === undefined) return;
  const own = values.get(value);
  if (own === undefined) values.set(value, new Map([[place, object]]));
  else own.set(place, object);
};

const leave = (values: ByValue, label: string, place: string, { metadata }: Stored): void => {
  const value = metadata.labels?.[label];
  const own = value === undefined ? undefined : values.get(value);
  if (value === undefined || own === undefined) return;
  own.delete(place);
  if (own.size === 0) values.delete(value);
};

/** Opens an index of these objects; the caller tells it of each change of them. */
export const openLabelIndex = (objects: ReadonlyMap<string, Stored>): LabelIndex => {
  const labels = new Map<string, ByValue>();
  const indexed = (label: string): ByValue => {
    const known = labels.get(label);
    if (known !== undefined) return known;
    const values: ByValue = new Map();
    for (const [place, object] of objects) enter(values, label, place, object);
    labels.set(label, values);
    return values;
  };
  return {
    put: (place, object) => {
      for (const [label, values] of labels) enter(values, label, place, object);
    },
    drop: (place, object) => {
      for (const [label, values] of labels) leave(values, label, place, object);
    },
    find: (label, value) => indexed(label).get(value)?.values() ?? [],
  };
};
