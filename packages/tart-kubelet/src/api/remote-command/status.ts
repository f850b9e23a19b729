import type { RemoteOutcome } from '../pod-runtime.ts';

/** The last word of an exec or attach, as kubectl reads it: its exit code comes from here. */
export const statusOf = (outcome: RemoteOutcome): string => {
  if (outcome.kind === 'failed') {
    const { message } = outcome;
    return JSON.stringify({ metadata: {}, status: 'Failure', reason: 'InternalError', code: 500, message });
  }
  if (outcome.code === 0) return JSON.stringify({ metadata: {}, status: 'Success' });
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${outcome.code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(outcome.code) }] },
  });
};
