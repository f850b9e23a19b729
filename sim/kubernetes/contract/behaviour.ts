import type { BehaviourContext } from './behaviour-context.ts';

/** One behaviour of a control plane: a sentence, and a test for it. */
export interface Behaviour {
  topic: string;
  sentence: string;
  run: (context: BehaviourContext) => Promise<void>;
  /** The embedded server does not serve the kind. */
  onlyReal?: true;
}

type Told = Omit<Behaviour, 'topic'>;

export const behaviour = (sentence: string, run: Behaviour['run'], more: Pick<Behaviour, 'onlyReal'> = {}): Told => ({
  sentence,
  run,
  ...more,
});

export const topic = (name: string, behaviours: readonly Told[]): Behaviour[] =>
  behaviours.map((each) => ({ topic: name, ...each }));
