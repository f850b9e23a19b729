/** The word under which a pass is counted. */
type PassResult = 'success' | 'error' | 'requeue_after';

export interface PassSummary {
  result: PassResult;
  seconds: number;
  /** It will not be tried again until something changes. */
  terminal: boolean;
  /** It ended with a programming mistake, not with an error that somebody foresaw. */
  defect: boolean;
  /** Its time was over before it ended. */
  timedOut: boolean;
}

/** Told of the passes of one controller, so that they can be measured. */
export interface PassObserver {
  /** The controller runs with that many workers. */
  started(workers: number): void;
  began(): void;
  /** `summary` is missing when the pass was cut short because the controller stops. */
  ended(summary: PassSummary | undefined): void;
}

export const unobserved: PassObserver = { started: () => {}, began: () => {}, ended: () => {} };
