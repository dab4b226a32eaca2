/** What a panel of both dashboards is: what each line asks of which metric, and where the panel stands. */

/** Samples that have this value of a label, or whose value does not match a pattern. */
export type Where = { readonly label: string; readonly is: "=" | "!~"; readonly value: string };

type Asked = {
  readonly name: string;
  readonly legend: string;
  /** A label whose values are lines of their own. */
  readonly by?: string;
  readonly where?: Where;
};

/** One line of a panel, or several by a label. */
export type Line = Asked &
  (
    | {
        readonly ask: "gauge";
        /** True: the samples of one process are summed; else the greatest of them is shown. */
        readonly summed?: true;
      }
    | { readonly ask: "rate"; readonly a: "second" | "minute" }
    | { readonly ask: "increase"; readonly within: "1h" | "1d" }
    | { readonly ask: "quantile"; readonly of: 0.5 | 0.99 }
    | { readonly ask: "mean" }
  );

export type Panel = {
  readonly id: number;
  readonly title: string;
  /** The end of the title where the lines are split by a label. */
  readonly split?: string;
  readonly note?: string;
  readonly shape: "stat" | "graph";
  /** Columns of 24. */
  readonly width: number;
  /** A unit's name in Grafana. */
  readonly unit: string;
  /** The query of the page's address for the same matter, such as `screen=queues`. */
  readonly page?: string;
  readonly lines: readonly Line[];
};

export type Heading = { readonly id: number; readonly row: string };

export type Place = { readonly x: number; readonly y: number; readonly w: number; readonly h: number };

const columns = 24;
const heights = { stat: 4, graph: 8 } as const;

/** Places panels from left to right, in rows as high as their panels; a heading takes a row. */
export const placed = <P extends Panel | Heading>(all: readonly P[]): readonly (readonly [P, Place])[] => {
  let [x, y, next] = [0, 0, 0];
  return all.map((one) => {
    const w = "row" in one ? columns : one.width;
    const h = "row" in one ? 1 : heights[one.shape];
    if (x + w > columns) [x, y] = [0, next];
    const place = { x, y, w, h };
    x += w;
    next = y + h;
    return [one, place];
  });
};
