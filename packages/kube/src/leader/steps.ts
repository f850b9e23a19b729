import { type Clock, sleep } from '../clock/index.ts';
import { isKubeError } from '../errors/kube-error.ts';
import type { Logger } from '../logs/logger.ts';
import type { Attempt, Contender } from './contender.ts';
import type { Durations } from './durations.ts';
import { NotLeadingError } from './gate.ts';
import type { After, State, StateOf } from './states.ts';
import { type Ending, type Lead, startTerm } from './term.ts';

export interface StepOptions {
  contender: Contender;
  clock: Clock;
  durations: Durations;
  settleMs: number;
  /** For texts. */
  lease: string;
  log: Logger;
  pauseAfter: (attempt: Attempt) => number;
  signal: AbortSignal;
  lead: Lead;
}

const endedWell: Ending = { kind: 'returned' };

const firing = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** One function per state: does what the state is for and answers the next one. None of them rejects. */
export const createSteps = (options: StepOptions): ((state: State) => Promise<State>) => {
  const { contender, clock, durations, settleMs, lease, log, pauseAfter, signal, lead } = options;
  const stop = firing(signal);

  const follow = async (): Promise<After<'following'>> => {
    let holder: string | undefined;
    while (!signal.aborted) {
      const attempt = await contender.acquire(signal);
      if (signal.aborted) break;
      if (attempt.kind === 'held') {
        const onFailure = (error: unknown): void => log.warn('lease not renewed, trying again', { error });
        const term = { clock, durations, contender, lease, sent: attempt.sent, lead, pauseAfter, onFailure };
        return { name: 'leading', term: startTerm(term) };
      }
      if (attempt.kind === 'failed') {
        const outrun = isKubeError(attempt.error, 'conflict', 'alreadyExists');
        log[outrun ? 'debug' : 'warn']('lease not acquired, trying again', { error: attempt.error });
      } else if (attempt.holder !== holder) {
        holder = attempt.holder;
        log.info('another process leads', { holder });
      }
      await sleep(clock, pauseAfter(attempt), signal);
    }
    // A write that got the lease, or may have, just before the stop.
    return { name: contender.mayHold ? 'releasing' : 'stopped', ending: endedWell };
  };

  /** An error of `lead` counts only if nobody had asked it to end. */
  const forgive = (ending: Ending, asked: boolean): Ending => {
    if (ending.kind === 'threw' && asked) log.info('leader-only work ended with an error', { error: ending.error });
    return asked ? endedWell : ending;
  };

  const stay = ({ term }: StateOf<'leading'>): Promise<After<'leading'>> => {
    term.begin();
    return Promise.race([
      term.lost.then((why) => ({ name: 'yielding' as const, term, why })),
      stop.then(() => ({ name: 'draining' as const, term })),
      term.ended.then((ending) => ({ name: 'releasing' as const, term, ending: forgive(ending, signal.aborted) })),
    ]);
  };

  const orLost = async <S>(...ways: readonly Promise<S>[]): Promise<S | StateOf<'lost'>> => {
    const waiting = new AbortController();
    try {
      const tooLate = sleep(clock, settleMs, waiting.signal).then(() => ({ name: 'lost' as const }));
      return await Promise.race([...ways, tooLate]);
    } finally {
      waiting.abort();
    }
  };

  const drain = async ({ term }: StateOf<'draining'>): Promise<After<'draining'>> => {
    term.tellToEnd(new Error('This process is stopping.'));
    const next = await orLost<StateOf<'yielding' | 'releasing'>>(
      term.lost.then((why) => ({ name: 'yielding', term, why })),
      term.ended.then((ending) => ({ name: 'releasing', term, ending: forgive(ending, true) })),
    );
    if (next.name === 'lost') {
      term.gate.close('it was told to stop');
      void term.stopRenewing();
    }
    return next;
  };

  const giveWay = ({ term, why }: StateOf<'yielding'>): Promise<After<'yielding'>> => {
    term.gate.close(why);
    term.tellToEnd(new NotLeadingError(lease, why));
    return orLost<StateOf<'following' | 'stopped'>>(
      term.ended.then((ending) => {
        forgive(ending, true);
        return signal.aborted ? { name: 'stopped', ending: endedWell } : { name: 'following' };
      }),
    );
  };

  const release = async ({ term, ending }: StateOf<'releasing'>): Promise<After<'releasing'>> => {
    term?.gate.close('it has given the lease back');
    await term?.stopRenewing();
    if (await contender.release()) log.info('lease given back');
    else log.warn('lease not given back, it will expire');
    return { name: 'stopped', ending };
  };

  return (state) => {
    switch (state.name) {
      case 'following':
        return follow();
      case 'leading':
        return stay(state);
      case 'draining':
        return drain(state);
      case 'yielding':
        return giveWay(state);
      case 'releasing':
        return release(state);
      case 'stopped':
      case 'lost':
        return Promise.resolve(state);
    }
  };
};
