import type { Fault } from './agent/settings.ts';
import type { World } from './world.ts';

/** One story of Pods on a Mac, short enough to be told a hundred times. It is told alike whether or not an agent is killed in it. */
export interface Story {
  /** To call it by. */
  readonly key: string;
  readonly name: string;
  readonly collects?: boolean;
  /** The Mac as it is before the first agent starts. */
  prepare?(world: World): Promise<void>;
  /** Drives it to its end, and says by `world.problems` or by rejecting what is not as it should be. */
  tell(world: World, fault?: Fault): Promise<void>;
}
