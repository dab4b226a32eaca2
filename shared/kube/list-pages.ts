/** Pages of a list that fit into an answer: with large objects, a page of the usual size may be too long. */
import { ApiError } from "../core/errors.ts";

/** Asks for a page of this many objects. */
type Ask<T> = (size: number) => Promise<T>;

/** The divisor of a page's size after a page was too long. */
const shrinking = 8;

const isTooLong = (cause: unknown): boolean => cause instanceof ApiError && cause.reason === "TooLong";

/** Asks for pages of one list. After one that was too long, all later ones are smaller, so one is read in vain. */
export const openPaging = (largest: number): (<T>(ask: Ask<T>) => Promise<T>) => {
  let size = largest;
  const fitting = <T>(ask: Ask<T>): Promise<T> =>
    ask(size).catch((cause: unknown) => {
      if (!isTooLong(cause) || size <= 1) throw cause;
      size = Math.ceil(size / shrinking);
      return fitting(ask);
    });
  return fitting;
};
