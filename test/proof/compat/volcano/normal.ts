/** Normalises objects of Go and ours: drops empty values, makes amounts numbers, and renames random names. */
import { quantityOf } from "../../../../shared/kube/quantity.ts";
import { isRecord, type Json } from "../compare.ts";

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.keys(value).length === 0);

/** Fields in which zero has a meaning. */
const telling = new Set(["index"]);

const lot = /^(.+)-[a-z0-9]{12}$/;

const amounts = new Set(["minResources", "requests", "limits"]);

const amountText = (value: unknown): unknown => {
  const quantity = quantityOf(value);
  return quantity === undefined ? value : `${quantity.nano}n`;
};

const asAmounts = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).map(([name, amount]) => [name, amountText(amount)]));

/** True for a volume of a claim, whose name is random. */
const isDrawn = (value: Json): boolean => isRecord(value["persistentVolumeClaim"]);

const drawnIn = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(drawnIn);
  if (!isRecord(value)) return [];
  const own = isDrawn(value) ? [`${value["name"]}`] : [];
  return [...own, ...Object.values(value).flatMap(drawnIn)];
};

const plain = (value: unknown, key: string, drawn: ReadonlyMap<string, string>): unknown => {
  if (typeof value === "string") return drawn.get(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => plain(item, "", drawn));
  if (!isRecord(value)) return value;
  const there = Object.entries(amounts.has(key) ? asAmounts(value) : value)
    .map(([name, item]): [string, unknown] => [name, plain(item, name, drawn)])
    .filter(([name, item]) => telling.has(name) || !isEmpty(item));
  return Object.fromEntries(there);
};

/** Normalises an object; a random name becomes its prefix and the order of its first use. */
export const plainOf = (value: unknown): unknown => {
  const names = [...new Set(drawnIn(value))];
  const drawn = new Map(names.map((name, at) => [name, `${lot.exec(name)?.[1] ?? name}-<${at}>`]));
  return plain(value, "", drawn) ?? {};
};
