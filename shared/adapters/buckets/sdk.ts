/** Loads the client library of an object store: an optional peer package, no part of a bundle, and absent until it is installed. */
import { ApiError } from "../../core/errors.ts";

/** Imports a module by its name; the name is a value, so that no bundle takes the module in. */
export type Load = (name: string) => Promise<unknown>;

export const importByName: Load = (name) => import(name);

const isMissing = (cause: unknown, name: string): boolean =>
  cause instanceof Error &&
  "code" in cause &&
  (cause.code === "ERR_MODULE_NOT_FOUND" || cause.code === "MODULE_NOT_FOUND") &&
  cause.message.includes(name);

/** The module; rejects with the package to install where it is missing. */
export const loadSdk = async (name: string, scheme: string, load: Load): Promise<unknown> => {
  try {
    return await load(name);
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const message = `uploading to ${scheme}:// needs the npm package ${name}; install it beside rekindle: npm install ${name}`;
    throw new ApiError({ status: 0, reason: "StoreWithoutSdk", message, cause });
  }
};
