import type { Logger } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { checkPermissions, type HostPool, type ScalewayError } from '@tartan/scaleway';

interface PermissionCheckOptions {
  readonly pool: HostPool;
  readonly zones: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** While something is missing, or Scaleway has not answered yet. A list of the inventory that is not older is a check too. */
  readonly retryMs: number;
  /** While all is well: keys may be revoked. */
  readonly againMs: number;
}

/** `problem` undefined: the key can read all that we need. */
interface PermissionState {
  readonly problem: string | undefined;
}

const notChecked: PermissionState = { problem: 'Scaleway has not answered yet' };

const isPermanent = ({ kind }: ScalewayError): boolean =>
  kind === 'denied' || kind === 'unauthorized' || kind === 'invalid' || kind === 'not found';

const messagesOf = (errors: readonly ScalewayError[]): string =>
  [...new Set(errors.map((error) => error.message))].join(' ');

/**
 * Only a refusal changes the state. Without an answer the known state stays, so that an outage of Scaleway does not make managers unready.
 */
const nextPermissionState = (before: PermissionState, errors: readonly ScalewayError[]): PermissionState => {
  const refusals = errors.filter(isPermanent);
  if (refusals.length > 0) return { problem: messagesOf(refusals) };
  if (errors.length === 0) return { problem: undefined };
  return before === notChecked ? { problem: `Scaleway does not answer: ${messagesOf(errors)}` } : before;
};

/**
 * Checks the permissions of the key. A missing one is logged by name and fails `readyz`; the process goes on and checks again, since a
 * Secret or a policy may be late (INC-301, INC-333).
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
    /** For `readyz`: what is missing, for users. */
    check: (): string | undefined => verdict.problem,
    run: async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        const errors = await checkPermissions(pool, zones, { signal, maxAgeMs: retryMs }).catch((error: unknown) => {
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
