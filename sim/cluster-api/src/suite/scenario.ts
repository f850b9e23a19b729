import type { Stage } from './stage.ts';

/** Something that is true of Cluster API core, whoever plays it. */
export interface Scenario {
  /** A sentence. */
  readonly name: string;
  play(stage: Stage): Promise<void>;
}
