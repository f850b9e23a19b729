import type { Batch } from './batches.ts';

/** An event of Node's test runner; only the fields that are used here. */
export interface TestEvent {
  readonly type: string;
  readonly data?: {
    readonly name?: string;
    readonly nesting?: number;
    readonly file?: string;
    readonly details?: { readonly duration_ms?: number; readonly passed?: boolean };
  };
}

export interface Progress {
  /** A progress line for the user, if there is one. */
  onEvent(event: TestEvent): string | undefined;
  /** Batches whose process ended before it reported a result: process.exit in a test, a signal, out of memory. */
  crashed(): readonly Batch[];
  /** The slowest first. */
  slowest(count: number): readonly (readonly [file: string, seconds: number])[];
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

/** `batches` by the path of their module. */
export const createProgress = (batches: ReadonlyMap<string, Batch>, root: string): Progress => {
  const reported = new Set<string>();
  const finished = new Set<string>();
  const tookMs = new Map<string, number>();

  return {
    onEvent: ({ type, data }) => {
      if (data?.file === undefined) return undefined;
      const { details, file, name, nesting } = data;
      if (type === 'test:summary') reported.add(file);
      if (type !== 'test:complete' || nesting !== 0) return undefined;
      const batch = name === file ? batches.get(file) : undefined;
      if (batch === undefined) {
        const path = file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
        tookMs.set(path, (tookMs.get(path) ?? 0) + (details?.duration_ms ?? 0));
        return undefined;
      }
      finished.add(file);
      const mark = details?.passed === false ? '✖' : '✔';
      return `${mark} ${finished.size} of ${batches.size}: ${batch.name}, ${seconds(details?.duration_ms ?? 0)}`;
    },
    crashed: () => [...finished].filter((file) => !reported.has(file)).flatMap((file) => batches.get(file) ?? []),
    slowest: (count) =>
      [...tookMs]
        .toSorted(([, one], [, other]) => other - one)
        .slice(0, count)
        .map(([file, took]) => [file, took / 1000] as const),
  };
};

/** Printed at the end of the output, where people look first. */
export const crashText = ({ files }: Batch): string =>
  `✖ A process ended before all of its tests had. One of these files ended it; run each alone (npm test -- FILE):\n${files.map((file) => `    ${file}\n`).join('')}`;
