import type { Run } from '../node/mac/run.ts';

/** `launchctl print` of a domain that is there but is no login at the screen names another kind of session. */
const aqua = /^\s*session = Aqua$/m;

/** It ended by itself, with a code, and was not sudo: then launchctl itself said that there is no such domain. */
const isAnswer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'number' && !/^sudo: /m.test(error.message);

/**
 * Whether the user has a session at the screen, as launchd says it now. Only root may look. Rejects when nobody can tell: a sudo that
 * wants a password says nothing about the console.
 */
export const hasAquaSession = (run: Run, uid: number, signal: AbortSignal): Promise<boolean> =>
  run('sudo', ['-n', 'launchctl', 'print', `gui/${uid}`], signal).then(
    (text) => aqua.test(text),
    (error: unknown) => {
      if (isAnswer(error)) return false;
      throw error;
    },
  );
