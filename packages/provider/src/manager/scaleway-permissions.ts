import type { Logger } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { checkPermissions, type HostPool, type ScalewayError } from '@tartan/scaleway';

interface PermissionCheckOptions {
  readonly pool: HostPool;
  readonly zones: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** While something is missing, or nobody has answered yet. */
  readonly retryMs: number;
  /** While all is well: keys are revoked, too. */
  readonly againMs: number;
}

/** `problem` undefined: all that we need can be read. */
interface PermissionState {
  readonly problem: string | undefined;
}

const notChecked: PermissionState = { problem: 'Scaleway has not answered yet' };

const isPermanent = ({ kind }: ScalewayError): boolean =>
  kind === 'denied' || kind === 'unauthorized' || kind === 'invalid' || kind === 'not found';

const messagesOf = (errors: readonly ScalewayError[]): string =>
  [...new Set(errors.map((error) => error.message))].join(' ');

/**
 * A refusal is a verdict. No answer is none: what was known before stays, so that an outage of Scaleway does not make managers
 * unready that can do nothing about it.
 */
const nextPermissionState = (before: PermissionState, errors: readonly ScalewayError[]): PermissionState => {
  const refusals = errors.filter(isPermanent);
  if (refusals.length > 0) return { problem: messagesOf(refusals) };
  if (errors.length === 0) return { problem: undefined };
  return before === notChecked ? { problem: `Scaleway does not answer: ${messagesOf(errors)}` } : before;
};

/**
 * Whether the key may do what the manager needs. A missing right is a line in the log that names it and a `readyz` that fails; the
 * process goes on and looks again, since a Secret or a policy may be a moment late (INC-301, INC-333).
 */
export const createScalewayPermissionCheck = (options: PermissionCheckOptions) => {
  const { pool, zones, clock, log, retryMs, againMs } = options;
  let verdict = notChecked;
  let reported: string | undefined;

  const report = (errors: readonly ScalewayError[]): void => {
    const { problem } = verdict;
    const text = problem ?? (errors.length === 0 ? '' : messagesOf(errors));
    if (text !== '') log.warn('Scaleway does not let this manager do its work', { problem: text, againMs: retryMs });
    else if (reported !== text) log.info('The API key of Scaleway can read all that is needed', { zones });
    reported = text;
  };

  return {
    name: 'scaleway rights',
    /** For `readyz`: what is missing, for people. */
    check: (): string | undefined => verdict.problem,
    run: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        const errors = await checkPermissions(pool, zones, { signal }).catch((error: unknown) => {
          if (signal.aborted) return undefined;
          throw error;
        });
        if (errors === undefined) return;
        verdict = nextPermissionState(verdict, errors);
        report(errors);
        await sleep(clock, errors.length === 0 ? againMs : retryMs, signal);
      }
    },
  };
};
