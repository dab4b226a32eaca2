/** Which manager owns which fields: metadata.managedFields. */
import type { Kind } from "./kinds.ts";
import type { Item } from "./metadata.ts";
import type { Server, WriteOptions } from "./server.ts";

/** The object with the ownership that this write leads to. */
export const managed = (
  _server: Server,
  _kind: Kind,
  _before: Item | undefined,
  after: Item,
  _options: WriteOptions,
): Item => after;
