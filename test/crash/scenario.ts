import type { ManagerOptions, World } from './world.ts';

/** One story of machines and Macs, short enough to be told a hundred times. */
export interface Scenario {
  /** To call it by. */
  readonly key: string;
  /** Most of it happens in stories before it as well: only what is new is tried. */
  readonly mostlyKnown?: boolean;
  readonly name: string;
  /** The world as it is when the manager starts. Carried out once; every run begins with a copy of it. */
  prepare(world: World): Promise<void>;
  readonly manager: ManagerOptions;
  /** What is missing to the end of the story, for people. Nothing: it is over. */
  missing(world: World): readonly string[];
  /** Virtual time in which it has to come to its end, from the start of the last manager. */
  readonly withinMs: number;
}

export const minutes = (count: number): number => count * 60_000;
