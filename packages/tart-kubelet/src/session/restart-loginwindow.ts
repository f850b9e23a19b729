import type { Run } from '../node/mac/run.ts';

const service = 'system/com.apple.loginwindow';

/**
 * One of these works on a loginwindow that is alive, dead (INC-08), or that launchd must not kill (macOS 14.4 and later). Never SIGHUP:
 * that leaves it dead (G19).
 */
const ways: readonly (readonly string[])[] = [
  ['launchctl', 'kickstart', '-k', service],
  ['killall', 'loginwindow'],
  ['launchctl', 'kickstart', service],
];

/** Rejects with what the first way said when none works. */
export const restartLoginwindow = async (run: Run, signal: AbortSignal): Promise<void> => {
  let first: unknown;
  for (const way of ways) {
    try {
      await run('sudo', ['-n', ...way], signal);
      return;
    } catch (error) {
      first ??= error;
      signal.throwIfAborted();
    }
  }
  throw first;
};
