import type { Harness } from './harness.ts';

/** Changes a harness at the first minute of the trouble, or does something at each minute from then on: `since` counts them. */
export type Fault = (harness: Harness, since: number) => void;

export interface Case {
  /** Done every minute from the fifth on. */
  readonly trouble: Fault;
  /** How many minutes it takes from then until the alert fires. */
  readonly after: number;
  /** What it says of itself, besides its severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value?: number;
  /** The same, and just not enough. */
  readonly almost: Fault;
}

type State = Harness['state'];
export const once =
  (change: (harness: Harness) => void): Fault =>
  (harness, since) => {
    if (since === 0) change(harness);
  };
export const setState = (change: Partial<State> | ((harness: Harness) => Partial<State>)): Fault =>
  once((harness) => {
    harness.state = { ...harness.state, ...(typeof change === 'function' ? change(harness) : change) };
  });
export const noFault: Fault = () => {};
/** For a while, and well again before anybody has to look. */
export const forMinutes =
  (minutes: number, change: Fault): Fault =>
  (harness, since) => {
    const { state } = harness;
    if (since === 0) {
      before.set(harness, state);
      change(harness, since);
    }
    if (since === minutes) harness.state = before.get(harness) ?? state;
  };
const before = new WeakMap<Harness, State>();

/** Nobody is scraped any more. */
export const notScraped = (of: (harness: Harness) => { scraped: boolean }[]): Fault =>
  once((harness) => {
    for (const target of of(harness)) target.scraped = false;
  });
