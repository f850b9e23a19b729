import type { World } from './world.ts';

/** Changes a world at the first minute of the trouble, or does something at each minute from then on: `since` counts them. */
export type Happening = (world: World, since: number) => void;

export interface Case {
  /** Done every minute from the fifth on. */
  readonly trouble: Happening;
  /** How many minutes it takes from then until the alert fires. */
  readonly after: number;
  /** What it says of itself, besides its severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value?: number;
  /** The same, and just not enough. */
  readonly almost: Happening;
}

type State = World['state'];
export const once =
  (change: (world: World) => void): Happening =>
  (world, since) => {
    if (since === 0) change(world);
  };
export const becomes = (change: Partial<State> | ((world: World) => Partial<State>)): Happening =>
  once((world) => {
    world.state = { ...world.state, ...(typeof change === 'function' ? change(world) : change) };
  });
export const nothing: Happening = () => {};
/** For a while, and well again before anybody has to look. */
export const passing =
  (minutes: number, change: Happening): Happening =>
  (world, since) => {
    const { state } = world;
    if (since === 0) {
      before.set(world, state);
      change(world, since);
    }
    if (since === minutes) world.state = before.get(world) ?? state;
  };
const before = new WeakMap<World, State>();

/** Nobody is scraped any more. */
export const silent = (of: (world: World) => { scraped: boolean }[]): Happening =>
  once((world) => {
    for (const target of of(world)) target.scraped = false;
  });
