/** Pages of a list that fit into an answer: objects of a tenant may be so large that a page of the usual size is given up unread. */
import { ApiError } from "../core/errors.ts";

/** Asks for a page of so many objects. */
type Ask<T> = (size: number) => Promise<T>;

/** Of objects that are too large together an eighth is asked for. */
const shrinking = 8;

const isTooLong = (cause: unknown): boolean => cause instanceof ApiError && cause.reason === "TooLong";

/** Asks for pages of one list. Once a page was too long, those that follow are smaller, too: what was given up is read once. */
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
