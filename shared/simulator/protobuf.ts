/** Decodes Kubernetes' protobuf, which kubectl's own commands send: fields are found by number, the result is JSON. */
import { type Fields, isFields } from "./json.ts";
import { numbersText, postedText } from "./numbers.ts";
import { codesNamed } from "./schemas.ts";

/** One field of a message: a value of this code, or the inlined fields of another message. */
type Field = { readonly name: string; readonly code: string; readonly zero: boolean } | { readonly inlined: Message };
type Message = Map<number, Field>;

/** Fields that are bytes: base64 in JSON. */
const bytes = new Set(["ConfigMap.binaryData", "Secret.data", "WebhookClientConfig.caBundle"]);

const put = (message: Message, place: readonly number[], field: Field): void => {
  const [number = 0, ...rest] = place;
  const there = message.get(number);
  if (rest.length === 0) {
    message.set(number, field);
    return;
  }
  const inlined = there !== undefined && "inlined" in there ? there.inlined : new Map();
  message.set(number, { inlined });
  put(inlined, rest, field);
};

const messageOf = (struct: string, fields: readonly (readonly [string, string, string])[]): Message => {
  const message: Message = new Map();
  for (const [name, code, number] of fields) {
    const read = bytes.has(`${struct}.${name}`) ? code.replace("s", "y") : code;
    const place = number.replace("!", "").split(".").map(Number);
    put(message, place, { name, code: read, zero: number.endsWith("!") });
  }
  return message;
};

const linesOf = (text: string): readonly string[] => text.trim().split(/\n| \| /);

const known = (line: string): readonly [string, Message] => {
  const [struct = "", ...numbers] = line.split(" ");
  const codes = [...(codesNamed(struct) ?? [])];
  return [
    struct,
    messageOf(
      struct,
      codes.map(([name, code], at) => [name, code, numbers[at] ?? "0"]),
    ),
  ];
};

const posted = (line: string): readonly [string, Message] => {
  const [struct = "", ...fields] = line.split(" ");
  return [
    struct,
    messageOf(
      struct,
      fields.map((field): [string, string, string] => {
        const [, name = "", code = "", number = "0"] = /^(\w+):(.*)=(.*)$/.exec(field) ?? [];
        return [name, code, number];
      }),
    ),
  ];
};

const messages: ReadonlyMap<string, Message> = new Map([
  ...linesOf(numbersText).map(known),
  ...linesOf(postedText).map(posted),
]);

/** A value on the wire: a number, or bytes. */
type Wire = { readonly number: number; readonly value: bigint | Buffer };

const varint = (data: Buffer, at: number): readonly [bigint, number] => {
  let value = 0n;
  for (let i = at, shift = 0n; i < data.length; i++, shift += 7n) {
    const byte = data[i] ?? 0;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return [BigInt.asIntN(64, value), i + 1];
  }
  throw new Error("protobuf: a number without an end");
};

const fixed: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

const wiresIn = (data: Buffer): readonly Wire[] => {
  const wires: Wire[] = [];
  for (let at = 0; at < data.length; ) {
    const [tag, after] = varint(data, at);
    const [number, type] = [Number(tag >> 3n), Number(tag & 7n)];
    const [lengthOrValue, begin] = type === 0 || type === 2 ? varint(data, after) : [BigInt(fixed[type] ?? -1), after];
    if (type !== 0 && (lengthOrValue < 0n || begin + Number(lengthOrValue) > data.length))
      throw new Error("protobuf: cut off");
    at = type === 0 ? begin : begin + Number(lengthOrValue);
    wires.push({ number, value: type === 0 ? lengthOrValue : data.subarray(begin, at) });
  }
  return wires;
};

const bytesOf = (value: Wire["value"] | undefined): Buffer => (Buffer.isBuffer(value) ? value : Buffer.alloc(0));

const first = (data: Wire["value"] | undefined, number: number): Wire["value"] | undefined =>
  wiresIn(bytesOf(data)).findLast((wire) => wire.number === number)?.value;

/** A quantity is a text; an IntOrString first says which of the two it is. */
const quantity = (data: Wire["value"]): string | number => {
  const type = first(data, 1);
  if (typeof type !== "bigint") return bytesOf(type).toString();
  return type === 0n ? Number(first(data, 2) ?? 0n) : bytesOf(first(data, 3)).toString();
};

const instant = (data: Wire["value"]): string | undefined => {
  const seconds = first(data, 1);
  if (typeof seconds !== "bigint") return undefined;
  const micros = Math.floor(Number(first(data, 2) ?? 0n) / 1_000);
  const text = new Date(Number(seconds) * 1_000).toISOString().slice(0, 19);
  return micros === 0 ? `${text}Z` : `${text}.${String(micros).padStart(6, "0")}Z`;
};

const leaves: Readonly<Record<string, (value: Wire["value"]) => unknown>> = {
  s: (value) => bytesOf(value).toString(),
  y: (value) => bytesOf(value).toString("base64"),
  i: Number,
  b: (value) => value !== 0n,
  n: (value) => (bytesOf(value).length === 8 ? bytesOf(value).readDoubleLE() : Number(value)),
  q: quantity,
  t: instant,
};

const decoded = (code: string, value: Wire["value"]): unknown => {
  const leaf = leaves[code];
  if (leaf !== undefined) return leaf(value);
  const message = messages.get(code);
  return message === undefined ? undefined : fieldsIn(message, bytesOf(value));
};

/** A field's value added to the values before it: lists and maps come an item at a time. */
const added = (before: unknown, code: string, value: Wire["value"]): unknown => {
  if (code.startsWith("{}")) {
    const key = bytesOf(first(value, 1)).toString();
    const item = first(value, 2) ?? Buffer.alloc(0);
    return { ...(isFields(before) ? before : {}), [key]: decoded(code.slice(2), item) };
  }
  const list = /^(?:<>|\[[^\]]*\])(.*)$/.exec(code);
  if (list === null) return decoded(code, value);
  return [...(Array.isArray(before) ? before : []), decoded(list[1] ?? "", value)];
};

const isZero = (value: unknown): boolean => value === 0 || value === false || value === "" || value === undefined;

/** Fields that no table knows are skipped, as by a decoder of an older version. */
const fieldsIn = (message: Message, data: Buffer): Fields => {
  let fields: Record<string, unknown> = {};
  for (const { number, value } of wiresIn(data)) {
    const field = message.get(number);
    if (field === undefined) continue;
    if ("inlined" in field) fields = { ...fields, ...fieldsIn(field.inlined, bytesOf(value)) };
    else {
      const item = added(fields[field.name], field.code, value);
      if (field.zero || !isZero(item)) fields[field.name] = item;
    }
  }
  return fields;
};

export const protobufType = "application/vnd.kubernetes.protobuf";

const magic = Buffer.from("k8s\0");

const read = (envelope: Buffer): string | undefined => {
  const type = bytesOf(first(envelope, 1));
  const [apiVersion, kind] = [1, 2].map((number) => bytesOf(first(type, number)).toString());
  const message = messages.get(kind ?? "");
  if (message === undefined) return undefined;
  return JSON.stringify({ apiVersion, kind, ...fieldsIn(message, bytesOf(first(envelope, 2))) });
};

/** The JSON of an object in Kubernetes' envelope; undefined for other bytes, a cut-off body, or an unknown kind. */
export const jsonOfProtobuf = (data: Buffer): string | undefined => {
  if (!data.subarray(0, magic.length).equals(magic)) return undefined;
  try {
    return read(data.subarray(magic.length));
  } catch {
    return undefined;
  }
};
