import type { Trial } from './trial.ts';

/** Something a control plane does, in a sentence, and how to see it. */
export interface Behaviour {
  topic: string;
  sentence: string;
  run: (trial: Trial) => Promise<void>;
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
