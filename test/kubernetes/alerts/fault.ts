import type { Harness } from './harness.ts';

/** Changes a harness once, in the first minute of the fault, or in each minute from then on: `since` counts them. */
export type Fault = (harness: Harness, since: number) => void;

export interface Case {
  /** Applied every minute from the fifth on. */
  readonly fault: Fault;
  /** How many minutes later the alert fires. */
  readonly after: number;
  /** Its labels, in addition to its severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value?: number;
  /** Almost the same, but just below the threshold. */
  readonly nearMiss: Fault;
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
/** For a while; over before the alert fires. */
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

/** These are no longer scraped. */
export const notScraped = (of: (harness: Harness) => { scraped: boolean }[]): Fault =>
  once((harness) => {
    for (const target of of(harness)) target.scraped = false;
  });
